/**
 * Child processes that are started without waiting for them: spawn, exec, execFile, fork, cluster. All of them come
 * through the method of one class, and that through one function of Node's inside; both are guarded, the second so that
 * nobody goes around the first. Decided at once, since they return a process with its number.
 */
import { ChildProcess } from "node:child_process";
import { pathText } from "@sallyport/gate";
import { invalidError, refusedError } from "../blocked-call.ts";
import { append, apply, bare, freeze, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { shownValue } from "../network/not-an-endpoint.ts";
import { replaceExport } from "../replace-export.ts";
import { type ChildLaunch, launchOf, requireUnchanged, withChildGate } from "./child-launch.ts";
import { checkedStreams, ownStdio } from "./child-stdio.ts";
import { withChannel } from "./child-environment.ts";
import { takeNumbersInUse } from "../fs/numbers-in-use.ts";
import { keep } from "./kept-descriptors.ts";

type Options = Record<string, unknown>;
interface Started {
  spawnfile: string;
  spawnargs: readonly unknown[];
  stdio: unknown[];
}

const SYSCALL = "spawn";
const SIGUSR1 = 10;
const IPC = freeze(["ignore", "ignore", "ignore", "ipc"]);

/** What Node reads beside the words that are decided on. Everything else is dropped with the object that held it. */
const KEPT = freeze(["detached", "serialization", "windowsHide"]);

const READ = freeze([...KEPT, "args", "cwd", "envPairs", "file", "gid", "stdio", "uid"]);

/** What was decided on, until Node has taken it. INVARIANT: nobody else holds any of it. */
interface Decided {
  readonly launch: ChildLaunch;
  readonly pairs: readonly string[];
  readonly cwd: string | undefined;
  readonly detached: boolean;
  /** The descriptor of the child's own gate, which comes last. */
  readonly gateFd: number | undefined;
}

export function guardSpawn(ground: Ground): void {
  // WHY: the class of the handle has no other name than through an instance.
  const child = new ChildProcess() as unknown as { readonly _handle: object };
  const inside = Reflect.getPrototypeOf(child._handle) as object;
  let decided: Decided | undefined;
  replaceExport(
    inside,
    "spawn",
    (original) =>
      function spawn(this: object, ...given: unknown[]): unknown {
        const taken = decided;
        decided = undefined;
        if (taken === undefined)
          throw refusedError(
            "a process is started by the functions of `child_process` alone",
            facts("spawn"),
          );
        const own = nativeArguments(ground, taken, given);
        requireUnchanged(taken.launch, SYSCALL);
        return apply(original, this, own);
      },
  );
  guardSignals(inside);
  replaceExport(
    ChildProcess.prototype,
    "spawn",
    (original) =>
      function spawn(this: Started, options: unknown): unknown {
        const written = readOnce(options);
        // WHY: it throws, and says why; nothing was decided on, so nothing starts.
        if (isNoProcess(written)) return apply(original, this, [shownOptions(options, written)]);
        const { file, args, cwd, own, launch } = planned(ground, written);
        const branch = launch.isNode ? openGate(ground, launch, own) : undefined;
        const pairs = textsOf(own["envPairs"]) ?? [];
        decided = bare({ launch, pairs, cwd, detached: own["detached"] === true, gateFd: branch?.fd });
        try {
          return apply(original, this, [own]);
        } finally {
          decided = undefined;
          branch?.release();
          // WHY: errors and whoever looks see the words of the program.
          this.spawnfile = file;
          this.spawnargs = args;
          if (branch !== undefined && Array.isArray(this.stdio)) this.stdio.length -= 1;
        }
      },
  );
}

/**
 * What Node's inside gets: in one object, or one by one on newer Nodes. WHY made anew: whoever listens on a channel of Node
 * sees the options after they were decided on, and could change them.
 */
function nativeArguments(ground: Ground, taken: Decided, given: readonly unknown[]): unknown[] {
  const { launch, cwd, detached, gateFd } = taken;
  const first = given[0];
  const isOne = typeof first === "object" && first !== null;
  const options = (isOne ? first : bare({ envPairs: given[3], stdio: given[4] })) as Options;
  const pairs = withChannel(taken.pairs, options["envPairs"]);
  const stdio = checkedStreams(ground, options["stdio"], gateFd);
  const args: string[] = textsOf(launch.args) ?? [];
  if (!isOne) {
    const flags = typeof given[5] === "number" ? given[5] : 0;
    return [launch.file, args, cwd, pairs, stdio, flags, undefined, undefined];
  }
  const own: Options = bare({});
  put(own, "file", launch.file);
  put(own, "args", args);
  put(own, "envPairs", pairs);
  put(own, "stdio", stdio);
  put(own, "detached", detached);
  if (cwd !== undefined) put(own, "cwd", cwd);
  return [own];
}

/** Everything that is read of the options, each once; `undefined` for what holds none. */
function readOnce(options: unknown): Options | undefined {
  if (typeof options !== "object" || options === null) return undefined;
  const written: Options = bare({});
  for (let index = 0; index < READ.length; index++) {
    const key = READ[index] as string;
    put(written, key, (options as Options)[key]);
  }
  return written;
}

function isNoProcess(written: Options | undefined): written is undefined {
  if (written === undefined) return true;
  const { file, args, envPairs } = written;
  const isPairs = envPairs === undefined || Array.isArray(envPairs);
  return typeof file !== "string" || !(args === undefined || Array.isArray(args)) || !isPairs;
}

/** What Node refuses, by its kind. */
function shownOptions(options: unknown, written: Options | undefined): unknown {
  if (written === undefined) return shownValue(options);
  const { file, args, envPairs, stdio } = written;
  const isIpc = Array.isArray(stdio) && stdio[stdio.length - 1] === "ipc";
  const shown: Options = bare({ file: shownValue(file), stdio: isIpc ? [...IPC] : "ignore" });
  if (args !== undefined) put(shown, "args", shownValue(args));
  if (envPairs !== undefined) put(shown, "envPairs", shownValue(envPairs));
  return shown;
}

function planned(ground: Ground, given: Options) {
  const { file, cwd, uid, gid, stdio } = given;
  const args = argumentTexts(given["args"]);
  if (typeof file !== "string" || args === undefined)
    throw invalidError("a program is text, and so are its arguments: hand over texts", facts("spawn"));
  requireSameUser(uid, gid);
  const folder = cwd === undefined || cwd === null || cwd === "" ? undefined : folderOf(cwd);
  const pairs = textsOf(given["envPairs"] ?? ownPairs()) ?? [];
  ground.imports.note("child_process");
  const launch = launchOf(ground, bare({ file, args, cwd: folder, pairs, syscall: SYSCALL }));
  const own: Options = bare({});
  for (let index = 0; index < KEPT.length; index++) {
    const key = KEPT[index] as string;
    const value = given[key];
    if (value !== undefined) put(own, key, value);
  }
  put(own, "file", file);
  put(own, "args", args);
  put(own, "envPairs", launch.pairs);
  put(own, "stdio", ownStdio(ground, stdio));
  if (folder !== undefined) put(own, "cwd", folder);
  return bare({ file, args, cwd: folder, own, launch });
}

/** @throws ExternalAccessError where there is no gate for it: a Node without one would not be guarded */
function openGate(ground: Ground, launch: ChildLaunch, own: Options) {
  const branch = requireBranch(ground);
  const { stdio, pairs } = withChildGate(ground, launch, own["stdio"] as never, branch.fd);
  put(own, "stdio", stdio);
  put(own, "envPairs", pairs);
  return branch;
}

export function requireBranch(ground: Ground) {
  takeNumbersInUse();
  const branch = ground.openBranch();
  if (branch === undefined)
    throw refusedError(
      "a Node that guarded code starts needs a gate of its own, and there is none now: see that the service runs",
      facts("spawn"),
    );
  keep(branch.fd);
  keep(branch.keptFd);
  return branch;
}

/** SIGUSR1 opens a debugger in a Node. */
function guardSignals(inside: object): void {
  replaceExport(
    inside,
    "kill",
    (original) =>
      function kill(this: object, signal: unknown): unknown {
        if (typeof signal !== "number" || signal === SIGUSR1)
          throw refusedError("a signal that opens a debugger is refused to guarded code", facts("kill"));
        return apply(original, this, [signal]);
      },
  );
}

export function requireSameUser(uid: unknown, gid: unknown): void {
  if (isSame(uid, process.getuid?.()) && isSame(gid, process.getgid?.())) return;
  throw refusedError("a child runs as the same user: leave out `uid` and `gid`", facts("spawn"));
}

function isSame(given: unknown, own: number | undefined): boolean {
  return given === undefined || given === null || given === own;
}

/** Arguments as the texts that Node makes of them, each of them once; `undefined` where there is no list. */
export function argumentTexts(list: unknown): string[] | undefined {
  const texts: string[] = [];
  if (list === undefined || list === null) return texts;
  if (!Array.isArray(list)) return undefined;
  for (let index = 0; index < list.length; index++) append(texts, `${list[index] as number}`);
  return texts;
}

/** A copy of a list of texts; `undefined` where something in it is none. */
export function textsOf(list: unknown): string[] | undefined {
  const texts: string[] = [];
  if (list === undefined || list === null) return texts;
  if (!Array.isArray(list)) return undefined;
  for (let index = 0; index < list.length; index++) {
    const text: unknown = list[index];
    if (typeof text !== "string") return undefined;
    append(texts, text);
  }
  return texts;
}

export function folderOf(cwd: unknown): string {
  const text = pathText(cwd);
  if (text !== undefined) return text;
  throw invalidError("the folder of a child is text: hand over its path", facts("spawn"));
}

/** The environment of this process, as texts. */
export function ownPairs(): string[] {
  const pairs: string[] = [];
  const names = Reflect.ownKeys(process.env);
  for (let index = 0; index < names.length; index++) {
    const name = names[index];
    if (typeof name === "string") append(pairs, `${name}=${process.env[name] ?? ""}`);
  }
  return pairs;
}

function facts(syscall: string) {
  return bare({ syscall });
}
