/**
 * Where a command prints, and how. Results go to stdout, everything said beside them to stderr. Colour only on a
 * terminal, never with NO_COLOR. Must never print foreign text that did not go through `printable`.
 */
import type { Readable, Writable } from "node:stream";
import { printable, printableJson } from "./printable.ts";

export interface TerminalStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly stdout: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined };
}

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const SGR: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** Text that is ours: the words of this program. Foreign text is put in by `shown`. */
export class Terminal {
  readonly streams: TerminalStreams;
  readonly isInteractive: boolean;
  readonly #isColourful: boolean;

  constructor(streams: TerminalStreams, env: NodeJS.ProcessEnv) {
    this.streams = streams;
    this.isInteractive = streams.stdin.isTTY === true && streams.stdout.isTTY === true;
    this.#isColourful =
      streams.stdout.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  }

  /** A line of the result. */
  line(text = ""): void {
    this.streams.stdout.write(`${text}\n`);
  }

  /** A line beside the result. */
  note(text: string): void {
    this.streams.stderr.write(`${text}\n`);
  }

  /** One JSON document on a line of its own. */
  json(value: unknown): void {
    this.streams.stdout.write(`${printableJson(value)}\n`);
  }

  paint(style: Style, text: string): string {
    return this.#isColourful ? `\u001b[${SGR[style]}m${text}\u001b[0m` : text;
  }

  /** Foreign text, made safe, then painted. */
  shown(text: string, style?: Style): string {
    const safe = printable(text);
    return style === undefined ? safe : this.paint(style, safe);
  }
}
