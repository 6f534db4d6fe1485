/**
 * Flags of a Node that guarded code starts. Only those are let through that neither run code in front of the guard, nor
 * open a debugger, nor touch files by themselves; a flag that is not known here is not let through. Pure.
 */
import { append, charCodeAt, freeze, slice } from "../captured.ts";

const DASH = 0x2d;
const EQUALS = 0x3d;

/** Take a value, behind `=` or as the next argument. INVARIANT: complete for this list, or a flag would look like a file. */
const WITH_VALUE: readonly string[] = freeze([
  "-C",
  "-e",
  "-p",
  "-pe",
  "-r",
  "--conditions",
  "--eval",
  "--import",
  "--input-type",
  "--print",
  "--require",
]);
/** Their value stands behind `=`. */
const JOINED: readonly string[] = freeze([
  "--disable-warning",
  "--dns-result-order",
  "--max-http-header-size",
  "--max-old-space-size",
  "--max-semi-space-size",
  "--stack-size",
  "--stack-trace-limit",
  "--unhandled-rejections",
]);
const PLAIN: readonly string[] = freeze([
  "-c",
  "-i",
  "--abort-on-uncaught-exception",
  "--check",
  "--enable-source-maps",
  "--experimental-require-module",
  "--experimental-strip-types",
  "--experimental-transform-types",
  "--experimental-vm-modules",
  "--expose-gc",
  "--interactive",
  "--jitless",
  "--no-addons",
  "--no-deprecation",
  "--no-experimental-require-module",
  "--no-experimental-strip-types",
  "--no-warnings",
  "--pending-deprecation",
  "--preserve-symlinks",
  "--preserve-symlinks-main",
  "--throw-deprecation",
  "--trace-deprecation",
  "--trace-uncaught",
  "--trace-warnings",
]);

/** The first flag that a guarded Node may not have; `undefined` where there is none. @param from where flags begin */
export function badFlag(args: readonly string[], from: number): string | undefined {
  for (let index = from; index < args.length; index++) {
    const word = args[index] as string;
    // WHY: here the program and its own arguments begin.
    if (charCodeAt(word, 0) !== DASH || word === "-" || word === "--") return undefined;
    const name = nameOf(word);
    if (isIn(name, WITH_VALUE)) {
      const next = args[index + 1];
      // WHY: Node never takes a word with a dash for a value.
      if (name === word && next !== undefined && charCodeAt(next, 0) !== DASH) index++;
    } else if (!(isIn(name, PLAIN) && name === word) && !(isIn(name, JOINED) && name !== word)) {
      return word;
    }
  }
  return undefined;
}

function nameOf(word: string): string {
  let end = 0;
  while (end < word.length && charCodeAt(word, end) !== EQUALS) end++;
  return slice(word, 0, end);
}

function isIn(name: string, names: readonly string[]): boolean {
  for (let index = 0; index < names.length; index++) if (names[index] === name) return true;
  return false;
}

/** The arguments of a Node with the guard in front of everything else. @param args with `argv[0]` */
export function guardedArgs(args: readonly string[], preload: string, more: readonly string[]): string[] {
  const guarded: string[] = [];
  append(guarded, args[0] ?? "node");
  append(guarded, "--require");
  append(guarded, preload);
  for (let index = 0; index < more.length; index++) append(guarded, more[index] as string);
  for (let index = 1; index < args.length; index++) append(guarded, args[index] as string);
  return guarded;
}
