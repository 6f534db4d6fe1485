import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { printTable } from "./table.ts";
import { Terminal } from "./terminal.ts";

interface Row {
  readonly id: string;
  readonly session: string;
  readonly target: string;
}

const COLUMNS = [
  { heading: "ID", cell: ({ id }: Row) => id },
  { heading: "SESSION", cell: ({ session }: Row) => session },
  { heading: "TARGET", cell: ({ target }: Row) => target },
];
const ROWS: readonly Row[] = [
  { id: "request-1", session: "run-1", target: "/srv/a\u202eb" },
  { id: "request-22", session: "", target: "/srv/long/\u001b[2J" },
];

/** What is printed where the screen is so wide. */
function printed(columns: number | undefined, isTTY: boolean): readonly string[] {
  const stdout = Object.assign(new PassThrough(), { isTTY, columns });
  printTable(new Terminal({ stdin: stdout, stdout, stderr: stdout }, { NO_COLOR: "1" }), COLUMNS, ROWS);
  return String(stdout.read()).split("\n").slice(0, -1);
}

const TABLE = [
  "ID          SESSION  TARGET",
  "request-1   run-1    /srv/a\\u{202e}b",
  "request-22           /srv/long/\\u{1b}[2J",
];

describe("rows on a terminal", () => {
  it("stand under headings where there is room, and wherever nobody knows how wide it is", () => {
    expect([printed(40, true), printed(undefined, true), printed(10, false)]).toEqual([TABLE, TABLE, TABLE]);
  });

  it("stand one below the other where they would be broken, whole and with nothing that acts on the terminal", () => {
    expect(printed(39, true)).toEqual([
      "request-1",
      "  session  run-1",
      "  target   /srv/a\\u{202e}b",
      "request-22",
      "  target   /srv/long/\\u{1b}[2J",
    ]);
  });
});
