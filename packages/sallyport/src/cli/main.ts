#!/usr/bin/env node
/** The command `sallyport`. Reads the arguments of the process, runs one command, ends with its exit code. */
import type { CommandLine } from "./command-line.ts";
import { withOwner } from "./owner-link.ts";
import { perform } from "./program.ts";
import { Terminal } from "./terminal.ts";

const { argv, env, stdin, stdout, stderr } = process;
const terminal = new Terminal({ stdin, stdout, stderr }, env);
const ending = new AbortController();
const cli: CommandLine = {
  terminal,
  env,
  cwd: process.cwd(),
  ending: ending.signal,
  withOwner: (options, work) => withOwner(cli, options, work),
};

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
// WHY: a reader that goes away, such as `head`, is no fault.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
});

// WHY: a command waits for things that keep no process alive by themselves, such as the lease of a node.
const working = setInterval(() => undefined, 60_000);
try {
  await perform(cli, argv.slice(2));
} finally {
  clearInterval(working);
}
