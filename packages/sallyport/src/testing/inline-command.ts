/** Commands of `sallyport` in this process: the same program, the same way to the owner, its streams in memory. */
import { Readable, Writable } from "node:stream";
import type { CommandLine } from "../cli/command-line.ts";
import { withOwner } from "../cli/owner-link.ts";
import { perform } from "../cli/program.ts";
import { Terminal } from "../cli/terminal.ts";
import type { Ended } from "./cli-process.ts";

export interface InlineOptions {
  readonly stdin?: string;
  /** Hears each piece of stdout; aborting ends the command as ctrl-c does. */
  readonly onOutput?: (text: string, end: () => void) => void;
}

/** Runs to its end. One at a time: the exit code is that of the process. */
export async function runInline(
  place: { readonly data: string; readonly cwd: string },
  words: readonly string[],
  { stdin = "", onOutput }: InlineOptions = {},
): Promise<Ended> {
  const ending = new AbortController();
  const out = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof out): Writable =>
    new Writable({
      write: (chunk, _encoding, done) => {
        out[name] += String(chunk);
        if (name === "stdout") onOutput?.(out.stdout, () => ending.abort());
        done();
      },
    });
  const streams = { stdin: Readable.from([stdin]), stdout: stream("stdout"), stderr: stream("stderr") };
  const cli: CommandLine = {
    terminal: new Terminal(streams, {}),
    env: { SALLYPORT_DATA: place.data },
    cwd: place.cwd,
    ending: ending.signal,
    withOwner: (options, work) => withOwner(cli, options, work),
  };
  const before = process.exitCode;
  try {
    await perform(cli, words);
    return { code: Number(process.exitCode ?? 0), ...out };
  } finally {
    process.exitCode = before;
  }
}
