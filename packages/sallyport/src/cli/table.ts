/**
 * Rows under headings, or one below the other where the terminal is too narrow for them. Every cell is foreign text and is
 * made safe here; none is ever cut: a cut target can deceive, and a cut id is worth nothing.
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
  const { isTTY, columns: screen } = terminal.streams.stdout;
  const needed = widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1));
  if (isTTY === true && screen !== undefined && needed > screen) {
    printBlocks(terminal, headings, cells);
    return;
  }
  terminal.line(terminal.paint("dim", joined(headings, widths)));
  for (const row of cells) terminal.line(joined(row, widths));
}

/** Each row as lines of its own, the first cell above the others. */
function printBlocks(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const label = Math.max(...headings.slice(1).map(width));
  for (const [first = "", ...others] of rows) {
    terminal.line(terminal.paint("bold", first));
    for (const [index, cell] of others.entries()) {
      const heading = (headings[index + 1] ?? "").toLowerCase().padEnd(label);
      if (cell !== "") terminal.line(`${GAP}${terminal.paint("dim", heading)}${GAP}${cell}`);
    }
  }
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
