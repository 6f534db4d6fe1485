/**
 * A program that guarded code starts, from its words to what is executed: found, decided on by its real path, and where
 * it is a Node, given the guard in front of everything else and a gate of its own. The gate is bound to the same subject
 * with the same rules; sensitive imports do not travel.
 * INVARIANT: a Node never starts without both; what cannot have them does not start.
 */
import { realPath } from "@sallyport/gate";
import { type AccessPart, type Twin, dependencyPart, executePart } from "../access-part.ts";
import { type CallFacts, refusedError } from "../blocked-call.ts";
import { append, bare, freeze, slice, workingFolder } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { requireListed } from "../imports/sensitive-import.ts";
import { GATE_FD_VARIABLE, GUARD_VARIABLE } from "../preload-facts.ts";
import { childPairs, valueOf } from "./child-environment.ts";
import { withGate } from "./child-stdio.ts";
import { startOf } from "./find-interpreter.ts";
import { type Program, baseName, findProgram } from "./find-program.ts";
import { badFlag, guardedArgs } from "./node-flags.ts";
import { NOWHERE } from "./not-a-process.ts";

const SHOWN_MAX = 1000;

/** As the program wrote it; every field read once. */
export interface ChildWords {
  readonly file: string;
  /** With `argv[0]`. */
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly pairs: readonly unknown[];
  readonly syscall: string;
}

/** What is executed in its place. */
export interface ChildLaunch {
  /** Real path. */
  readonly file: string;
  readonly args: string[];
  readonly pairs: string[];
  /** It is a Node: its gate has to be added. */
  readonly isNode: boolean;
  /** Whether the words lead to the same programs as when they were decided on. */
  readonly isUnchanged: () => boolean;
}

/**
 * For the moment before it is executed: the program may have run since, and swapped a folder for a link.
 * @throws ExternalAccessError where something else would be executed than was decided on
 */
export function requireUnchanged({ file, isUnchanged }: ChildLaunch, syscall: string): void {
  if (!isUnchanged())
    throw refusedError(
      `\`${file}\` is another program than when it was decided on: start it again`,
      bare({ syscall, path: file }),
    );
}

/** @throws ExternalAccessError where it may not be executed */
export function launchOf(ground: Ground, words: ChildWords): ChildLaunch {
  requireListed(ground.imports, "child_process");
  const { file, args, syscall } = words;
  const pairs = childPairs(words.pairs);
  const cwd = startFolder(words.cwd);
  const around = bare({ cwd, path: valueOf(pairs, "PATH") });
  const facts = bare({ syscall, path: file });
  const program = findProgram(file, around);
  const start = program === undefined ? undefined : startOf(program, around, facts);
  if (program === undefined || start === undefined)
    return freeze(bare({ file: NOWHERE, args: copyOf(args), pairs, isNode: false, isUnchanged: always }));
  const { runner, asked, words: script } = start;
  const shown = shownWords(file, args);
  const parts: AccessPart[] = [];
  for (let index = 0; index < asked.length; index++) append(parts, partOf(asked[index] as Program, shown));
  const isNode = isNodeProgram(runner.path);
  const own = isNode ? nodeArgs(ground, args, script, facts) : copyOf(args);
  ground.decider.now(parts, facts);
  const isUnchanged = (): boolean =>
    startFolder(words.cwd) === cwd && isSameStart(program, asked, around, facts);
  return freeze(bare({ file: isNode ? runner.path : program.path, args: own, pairs, isNode, isUnchanged }));
}

const always = freeze((): boolean => true);

/** Whether the real path of a program still leads to it, and to the same interpreters. */
function isSameStart(
  program: Program,
  asked: readonly Program[],
  around: Parameters<typeof startOf>[1],
  facts: CallFacts,
): boolean {
  for (let index = 0; index < asked.length; index++) {
    const { path } = asked[index] as Program;
    if (realPath(path, "follow") !== path) return false;
  }
  const again = startOf(program, around, facts)?.asked ?? [];
  if (again.length !== asked.length) return false;
  for (let index = 0; index < asked.length; index++)
    if ((again[index] as Program).path !== (asked[index] as Program).path) return false;
  return true;
}

function startFolder(cwd: string | undefined): string {
  const own = workingFolder();
  if (cwd === undefined || cwd === "") return own;
  return realPath(slice(cwd, 0, 1) === "/" ? cwd : `${own}/${cwd}`, "follow") ?? own;
}

function partOf(program: Program, shown: string): AccessPart {
  const { path, name, isByName } = program;
  if (isByName && name !== undefined) return dependencyPart(name, shown, fileTwin(path));
  const place = bare({ path, requested: shown, exists: true });
  return executePart(place, name === undefined ? undefined : nameTwin(name));
}

function fileTwin(target: string): Twin {
  return freeze(bare({ resourceType: "filesystem", operation: "execute", target }));
}

function nameTwin(target: string): Twin {
  return freeze(bare({ resourceType: "system_dependency", operation: "execute", target }));
}

/** For the approver: what would run, with its arguments. */
function shownWords(file: string, args: readonly string[]): string {
  let text = file;
  for (let index = 1; index < args.length && text.length < SHOWN_MAX; index++) text += ` ${args[index]}`;
  return text.length > SHOWN_MAX ? `${slice(text, 0, SHOWN_MAX - 1)}…` : text;
}

/** WHY by name too: another Node than this one is a Node as well. */
export function isNodeProgram(path: string): boolean {
  const name = baseName(path);
  return path === ownProgram || name === "node" || name === "nodejs";
}

const ownProgram = realPath(process.execPath, "follow") ?? process.execPath;

/** @param script what stands before the arguments where a script is started */
function nodeArgs(
  ground: Ground,
  args: readonly string[],
  script: readonly string[],
  facts: CallFacts,
): string[] {
  const bad = script.length === 0 ? badFlag(args, 1) : badFlag(script, 0);
  if (bad !== undefined)
    throw refusedError(
      `the flag \`${bad}\` is refused to a Node that guarded code starts: it could run beside the guard; leave it out`,
      facts,
    );
  return guardedArgs(args, ground.launch.preload, script);
}

/** Streams and environment of a Node with the gate that it inherits. */
export function withChildGate(
  ground: Ground,
  { pairs }: ChildLaunch,
  stdio: Parameters<typeof withGate>[0],
  fd: number,
): { readonly stdio: ReturnType<typeof withGate>["list"]; readonly pairs: string[] } {
  const { list, at } = withGate(stdio, fd);
  const own: string[] = [];
  append(own, `${GATE_FD_VARIABLE}=${at}`);
  append(own, `${GUARD_VARIABLE}=${ground.launch.facts}`);
  for (let index = 0; index < pairs.length; index++) append(own, pairs[index] as string);
  return bare({ stdio: list, pairs: own });
}

function copyOf(args: readonly string[]): string[] {
  const copy: string[] = [];
  for (let index = 0; index < args.length; index++) append(copy, args[index] as string);
  return copy;
}
