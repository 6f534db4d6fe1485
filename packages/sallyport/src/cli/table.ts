/**
 * Rows under headings. Every cell is foreign text and is made safe here; the last column is never cut, because it holds
 * the target and a cut target can deceive.
 */
import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
}

const GAP = "  ";

export function printTable<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const cells = rows.map((row) => columns.map(({ cell }) => printable(cell(row))));
  const widths = columns.map(({ heading }, index) =>
    Math.max(width(heading), ...cells.map((row) => width(row[index] ?? ""))),
  );
  const headings = columns.map(({ heading }) => heading);
  terminal.line(terminal.paint("dim", joined(headings, widths)));
  for (const row of cells) terminal.line(joined(row, widths));
}

function joined(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, index) =>
      index === cells.length - 1 ? cell : cell + " ".repeat((widths[index] ?? 0) - width(cell)),
    )
    .join(GAP)
    .trimEnd();
}

/** Columns on a screen: characters of East Asian scripts and pictures take two, marks none. */
function width(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue;
    columns +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return columns;
}
