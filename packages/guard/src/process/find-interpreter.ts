/**
 * What the kernel starts for a program that is a script: the interpreter behind `#!`, which may be a script itself, and the
 * shell for a file that is no program of the machine at all, which the C library hands to it. Read as the kernel reads it; what
 * could be another program to the kernel than to the guard is not started.
 * Looks at files by itself and asks nobody: the look-up belongs to the execution that is decided on.
 */
import { pathText } from "@sallyport/gate";
import { type CallFacts, refusedError } from "../blocked-call.ts";
import { append, bare, charCodeAt, freeze, slice } from "../captured.ts";
import { nativeFs } from "../fs/native-fs.ts";
import { part } from "../http/own-bytes.ts";
import { type Program, type Surroundings, findProgram, hasSlash } from "./find-program.ts";

const { closeSync, openSync, readSync } = nativeFs;
const SPACE = 0x20;
const TAB = 0x09;
const NEWLINE = 0x0a;
/** What the kernel reads of a script. */
const HEAD_BYTES = 256;
/** As deep as the kernel goes. */
const DEPTH_MAX = 5;
const SHELL = "/bin/sh";
/** `#!`. */
const SCRIPT = freeze([0x23, 0x21]);
/** Of a program of the machine: `\x7fELF`. */
const MACHINE = freeze([0x7f, 0x45, 0x4c, 0x46]);

/** What is started in the end, and everything that has to be asked about on the way there. */
export interface Start {
  readonly runner: Program;
  readonly asked: readonly Program[];
  /** What stands before the program's own arguments: flags of interpreters and scripts. */
  readonly words: readonly string[];
}

/**
 * @returns `undefined` where there is no such interpreter, so that nothing can be started
 * @throws ExternalAccessError where nobody can tell which it is
 */
export function startOf(program: Program, around: Surroundings, facts: CallFacts): Start | undefined {
  const asked: Program[] = [];
  append(asked, program);
  let runner = program;
  let words: readonly string[] = freeze([]);
  for (let depth = 0; depth <= DEPTH_MAX; depth++) {
    const named = interpreterOf(runner.path);
    if (named === undefined) return freeze(bare({ runner, asked, words }));
    const behind = behindName(named, around, facts);
    if (behind === undefined) return undefined;
    words = joined(behind.flags, runner.path, words);
    // WHY: a script of the system stands for its interpreter.
    if (runner.name === undefined) append(asked, behind.program);
    runner = behind.program;
  }
  return undefined;
}

interface Behind {
  readonly program: Program;
  readonly flags: readonly string[];
}

/** The interpreter itself; the `env` of the system is looked through. */
function behindName({ file, rest }: Named, around: Surroundings, facts: CallFacts): Behind | undefined {
  // WHY a path: the kernel looks along no `PATH`.
  const program = findProgram(hasSlash(file) ? file : `./${file}`, around);
  const words = wordsOf(rest);
  if (program === undefined || program.name !== "env") return program && bare({ program, flags: words });
  const isSplit = words[0] === "-S" || words[0] === "--split-string";
  const name = words[isSplit ? 1 : 0];
  if (name === undefined || (!isSplit && words.length > 1) || !isPlain(rest) || !isProgram(name))
    throw refusedError(
      `what \`env\` starts for the script \`${facts.path ?? ""}\` cannot be told: name the interpreter alone, or behind \`-S\` with plain words`,
      facts,
    );
  const found = findProgram(name, around);
  const flags: string[] = [];
  for (let index = isSplit ? 2 : 1; index < words.length; index++) append(flags, words[index] as string);
  return found && bare({ program: found, flags });
}

/** Neither a flag of `env` nor a variable that it sets. */
function isProgram(word: string): boolean {
  for (let index = 0; index < word.length; index++) if (charCodeAt(word, index) === 0x3d) return false;
  return charCodeAt(word, 0) !== 0x2d;
}

/** Without what `env -S` takes for something else: quotes, backslashes, variables, comments. */
function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = charCodeAt(text, index);
    const isMark = code === 0x22 || code === 0x23 || code === 0x24 || code === 0x27 || code === 0x5c;
    if (isMark || (code < SPACE && code !== TAB)) return false;
  }
  return true;
}

/** What the kernel would start for a file. */
interface Named {
  readonly file: string;
  /** One argument to the kernel. */
  readonly rest: string;
}

/** `undefined` for a program of the machine, and for what cannot be read. */
function interpreterOf(path: string): Named | undefined {
  const head = headOf(path);
  if (head === undefined || begins(head, MACHINE)) return undefined;
  const named = begins(head, SCRIPT) ? namedIn(head) : undefined;
  // WHY: what the kernel does not know, the C library hands to the shell.
  return named ?? bare({ file: SHELL, rest: "" });
}

/** `undefined` where no name stands there. INVARIANT: a name ends as it does for the kernel, at a space, a tab or a zero byte. */
function namedIn(head: Uint8Array): Named | undefined {
  let end = 0;
  while (end < head.length && head[end] !== NEWLINE) end++;
  while (end > 0 && isGap(head[end - 1] as number)) end--;
  let start = SCRIPT.length;
  while (start < end && isGap(head[start] as number)) start++;
  let stop = start;
  while (stop < end && !isGap(head[stop] as number) && head[stop] !== 0) stop++;
  if (start >= stop) return undefined;
  let from = stop;
  while (from < end && isGap(head[from] as number)) from++;
  const hasRest = stop < end && head[stop] !== 0 && from < end;
  // WHY no name for bytes that are no text: nothing is found under it.
  const file = pathText(part(head, start, stop)) ?? "";
  return bare({ file, rest: hasRest ? (pathText(part(head, from, end)) ?? "\0") : "" });
}

function isGap(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

function begins(head: Uint8Array, mark: readonly number[]): boolean {
  for (let index = 0; index < mark.length; index++) if (head[index] !== mark[index]) return false;
  return true;
}

function headOf(path: string): Uint8Array | undefined {
  const head = new Uint8Array(HEAD_BYTES);
  try {
    const fd = openSync(path, "r");
    try {
      return part(head, 0, readSync(fd, head, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function wordsOf(text: string): string[] {
  const words: string[] = [];
  let start = -1;
  for (let index = 0; index <= text.length; index++) {
    const isBetween = index === text.length || isGap(charCodeAt(text, index));
    if (!isBetween && start < 0) start = index;
    if (isBetween && start >= 0) {
      append(words, slice(text, start, index));
      start = -1;
    }
  }
  return words;
}

function joined(flags: readonly string[], script: string, behind: readonly string[]): string[] {
  const words: string[] = [];
  for (let index = 0; index < flags.length; index++) append(words, flags[index] as string);
  append(words, script);
  for (let index = 0; index < behind.length; index++) append(words, behind[index] as string);
  return words;
}
