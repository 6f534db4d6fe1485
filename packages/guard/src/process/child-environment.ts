/**
 * The environment of a program that guarded code starts: its own words, without those that change what an approved
 * program does before it does anything.
 */
import { append, beginsWith, charCodeAt, freeze, slice } from "../captured.ts";

const EQUALS = 0x3d;

/** Read as code, or loads code, in the programs that everybody has. */
const SCRUBBED: readonly string[] = freeze([
  "BASHOPTS",
  "BASH_ENV",
  "ENV",
  "GCONV_PATH",
  "GETCONF_DIR",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_PARAMETERS",
  "GIT_CONFIG_SYSTEM",
  "GIT_EXTERNAL_DIFF",
  "GIT_SSH_COMMAND",
  "JAVA_TOOL_OPTIONS",
  "JDK_JAVA_OPTIONS",
  "LOCPATH",
  "MALLOC_TRACE",
  "NLSPATH",
  "OPENSSL_CONF",
  "OPENSSL_ENGINES",
  "OPENSSL_MODULES",
  "PERL5LIB",
  "PERL5OPT",
  "PERLLIB",
  "PROMPT_COMMAND",
  "PS4",
  "PYTHONHOME",
  "PYTHONINSPECT",
  "PYTHONPATH",
  "PYTHONSTARTUP",
  "RUBYLIB",
  "RUBYOPT",
  "SHELLOPTS",
  "_JAVA_OPTIONS",
]);
const SCRUBBED_PREFIXES: readonly string[] = freeze([
  "BASH_FUNC_",
  "DYLD_",
  "GIT_CONFIG_KEY_",
  "LD_",
  "NODE_",
  "SALLYPORT_",
]);
/** Of Node's own, those that say something and load, read or write nothing. */
const KEPT: readonly string[] = freeze([
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "NODE_DEBUG",
  "NODE_DISABLE_COLORS",
  "NODE_ENV",
  "NODE_NO_WARNINGS",
  "NODE_PATH",
  "NODE_UNIQUE_ID",
  "NODE_VERSION",
]);

export function isScrubbed(name: string): boolean {
  if (isIn(name, KEPT)) return false;
  if (isIn(name, SCRUBBED)) return true;
  for (let index = 0; index < SCRUBBED_PREFIXES.length; index++)
    if (beginsWith(name, SCRUBBED_PREFIXES[index] as string)) return true;
  return false;
}

/** `NAME=value` texts, as Node hands them to the kernel. Texts alone: anything else is dropped. */
export function childPairs(pairs: readonly unknown[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < pairs.length; index++) {
    const pair = pairs[index];
    if (typeof pair === "string" && !isScrubbed(nameOf(pair))) append(kept, pair);
  }
  return kept;
}

/** The texts that were decided on, and behind them what Node adds for its own channel between parent and child. */
export function withChannel(pairs: readonly string[], given: unknown): string[] {
  const own: string[] = [];
  for (let index = 0; index < pairs.length; index++) append(own, pairs[index] as string);
  if (!Array.isArray(given)) return own;
  for (let index = pairs.length; index < given.length; index++) {
    const pair: unknown = given[index];
    if (typeof pair === "string" && beginsWith(pair, "NODE_CHANNEL_")) append(own, pair);
  }
  return own;
}

/** The value of a variable; the last one counts, as for Node. */
export function valueOf(pairs: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let index = 0; index < pairs.length; index++) {
    const pair = pairs[index] as string;
    if (nameOf(pair) === name) value = slice(pair, name.length + 1);
  }
  return value;
}

function nameOf(pair: string): string {
  let end = 0;
  while (end < pair.length && charCodeAt(pair, end) !== EQUALS) end++;
  return slice(pair, 0, end);
}

function isIn(name: string, names: readonly string[]): boolean {
  for (let index = 0; index < names.length; index++) if (names[index] === name) return true;
  return false;
}
