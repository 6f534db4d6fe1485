/**
 * The guard holds only what it finds untouched, so it must be the first thing that runs. This looks for signs that it is
 * not, and for flags that would let code run beside it.
 */
const OPEN_FLAGS = [
  "--expose-internals",
  "--expose_internals",
  "--experimental-loader",
  "--loader",
  "--inspect",
  "--inspect-brk",
  "--inspect-port",
  "--inspect-wait",
  "--debug-port",
];

export interface StartFacts {
  /** The file of the guard. */
  readonly file: string;
  /** Files that `--require` names, in order. */
  readonly preloads: readonly unknown[];
  /** Files of CommonJS that were loaded already. */
  readonly loaded: readonly string[];
  readonly flags: readonly string[];
  readonly platform: string;
}

/** Why the guard must not start; `undefined` where it may. */
export function startFault(facts: StartFacts): string | undefined {
  const { file, preloads, loaded, flags, platform } = facts;
  if (platform !== "linux") return "the guard verifies descriptors through `/proc`: run it on Linux";
  if (preloads[0] !== file || loaded.some((other) => other !== file))
    return "another preload ran before the guard: let `--require` of the guard be the first, without NODE_OPTIONS";
  const open = flags.find((flag) => OPEN_FLAGS.includes(flag.split("=")[0] ?? ""));
  return open === undefined ? undefined : `the flag \`${open}\` lets code run beside the guard: leave it out`;
}
