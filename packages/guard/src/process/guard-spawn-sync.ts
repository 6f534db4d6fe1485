/**
 * Child processes that are waited for: spawnSync, execFileSync, execSync. Arguments are read once; what Node gets is the
 * verified file with texts and numbers, and a shell is executed as the program that it is.
 */
import childProcess from "node:child_process";
import { types } from "node:util";
import { invalidError, refusedError } from "../blocked-call.ts";
import {
  append,
  apply,
  bare,
  charCodeAt,
  freeze,
  getOwnPropertyDescriptor,
  put,
  slice,
} from "../captured.ts";
import { asWritten } from "../fs/as-written.ts";
import type { Ground } from "../ground.ts";
import { lowered } from "../http/request-head.ts";
import { shownValue } from "../network/not-an-endpoint.ts";
import { replaceExport } from "../replace-export.ts";
import { isNodeProgram, launchOf, requireUnchanged, withChildGate } from "./child-launch.ts";
import { ownStdio } from "./child-stdio.ts";
import { argumentTexts, folderOf, ownPairs, requireBranch, requireSameUser } from "./guard-spawn.ts";
import { requireHeldInside, waitingFor } from "./native-spawn-sync.ts";
import { JUDGED, type WrittenCall, hasNul, requireProcess } from "./not-a-process.ts";

type Options = Record<string, unknown>;
type SpawnSync = (file: string, args: readonly string[], options: Options) => Ended;
interface Ended {
  readonly error?: Error;
  readonly status: number | null;
  readonly stdout: unknown;
  readonly stderr: unknown;
  output: unknown[] | null;
}
interface Call {
  readonly file: string;
  /** Without `argv[0]`. */
  readonly args: readonly string[];
  readonly options: Options;
}

const SYSCALL = "spawnSync";
const EQUALS = 0x3d;
const { isArrayBufferView: isView } = types;
const { assign, keys } = Object;
const NativeError = Error;
const KEPT = freeze(["timeout", "maxBuffer", "encoding", "windowsHide"]);

export function guardSpawnSync(ground: Ground): void {
  const native = childProcess.spawnSync as unknown as SpawnSync;
  const run = (call: Call): Ended => runNow(ground, native, call);
  replaceExport(
    childProcess,
    "spawnSync",
    () =>
      (...args: unknown[]) =>
        run(callOf(native, args)),
  );
  replaceExport(childProcess, "execFileSync", () => (...args: unknown[]) => {
    const call = callOf(native, args);
    return output(run(call), call, [call.file, call.args]);
  });
  replaceExport(childProcess, "execSync", (original) => (...args: unknown[]) => {
    const command = args[0];
    const given: Options = copyOptions(args[1]) ?? bare({});
    if (typeof given["shell"] !== "string") put(given, "shell", true);
    if (typeof command !== "string" || hasNul(command)) apply(original, childProcess, [shownValue(command)]);
    const call = requiredCall(native, bare({ file: command, args: undefined, options: given }));
    return output(run(call), call, [call.file, freeze([])]);
  });
}

/** `(file)`, `(file, options)`, `(file, args)`, `(file, args, options)`. */
function callOf(native: SpawnSync, given: readonly unknown[]): Call {
  const second = given[1];
  const isOptions = typeof second === "object" && second !== null && !Array.isArray(second);
  const options = isOptions ? second : given[2];
  return requiredCall(
    native,
    bare({
      file: given[0],
      args: isOptions ? undefined : second,
      options: copyOptions(options) ?? options,
    }),
  );
}

/** @throws what Node throws for what is no call */
function requiredCall(native: SpawnSync, written: WrittenCall): Call {
  requireProcess(native as Parameters<typeof requireProcess>[0], written);
  const { file, options } = written;
  const args = argumentTexts(written.args);
  if (typeof file !== "string" || args === undefined) throw notText();
  return bare({ file, args, options: (options ?? bare({})) as Options });
}

function notText(): Error {
  return invalidError(
    "a program is text, and so are its arguments: hand over texts",
    bare({ syscall: SYSCALL }),
  );
}

const READ = freeze([
  ...KEPT,
  ...JUDGED,
  "argv0",
  "cwd",
  "env",
  "gid",
  "input",
  "killSignal",
  "shell",
  "stdio",
  "uid",
]);

/** Own options alone, as Node takes them; `undefined` for what holds none. */
function copyOptions(options: unknown): Options | undefined {
  if (typeof options !== "object" || options === null) return undefined;
  const copy: Options = bare({});
  for (let index = 0; index < READ.length; index++) {
    const key = READ[index] as string;
    if (getOwnPropertyDescriptor(options, key)?.enumerable !== true) continue;
    const value = (options as Options)[key];
    if (value !== undefined && value !== null) put(copy, key, value);
  }
  return copy;
}

function runNow(ground: Ground, native: SpawnSync, { file, args, options }: Call): Ended {
  requireHeldInside();
  requireSameUser(options["uid"], options["gid"]);
  const { shell, argv0, cwd } = options;
  const isShell = shell !== undefined && shell !== false && shell !== "";
  const program = isShell ? (typeof shell === "string" ? shell : "/bin/sh") : file;
  const own: string[] = [];
  append(own, typeof argv0 === "string" ? argv0 : program);
  if (isShell) {
    append(own, "-c");
    append(own, joined(file, args));
  } else {
    for (let index = 0; index < args.length; index++) append(own, args[index] as string);
  }
  // WHY: a folder without a name is where Node cannot go.
  const folder = cwd === undefined || cwd === "" ? cwd : folderOf(cwd);
  const pairs = options["env"] === undefined ? ownPairs() : pairsOf(options["env"] as object);
  const launch = launchOf(ground, bare({ file: program, args: own, cwd: folder, pairs, syscall: SYSCALL }));
  if (isShell && isNodeProgram(launch.file))
    throw refusedError("Node is no shell for guarded code: use `execFile`", bare({ syscall: SYSCALL }));
  const stdio = ownStdio(ground, options["stdio"]);
  const branch = launch.isNode ? requireBranch(ground) : undefined;
  const gated = branch === undefined ? undefined : withChildGate(ground, launch, stdio, branch.fd);
  try {
    const given = nodeOptions(options, folder, gated?.pairs ?? launch.pairs, gated?.stdio ?? stdio);
    put(given, "argv0", launch.args[0]);
    const rest: string[] = [];
    for (let index = 1; index < launch.args.length; index++) append(rest, launch.args[index] as string);
    const waited = bare({ launch, pairs: gated?.pairs ?? launch.pairs, cwd: folder, gateFd: branch?.fd });
    requireUnchanged(launch, SYSCALL);
    const ended = waitingFor(waited, () => native(launch.file, rest, given));
    if (gated !== undefined && ended.output !== null) ended.output.length -= 1;
    if (ended.error !== undefined) renamed(ended.error, launch.file, program, own);
    return ended;
  } finally {
    branch?.release();
  }
}

/** What Node reads, as values that are nobody's. */
function nodeOptions(
  options: Options,
  folder: string | undefined,
  pairs: readonly string[],
  stdio: unknown,
): Options {
  const own: Options = bare({});
  for (let index = 0; index < KEPT.length; index++) {
    const key = KEPT[index] as string;
    if (options[key] !== undefined) put(own, key, options[key]);
  }
  const { input, killSignal } = options;
  if (typeof input === "string" || isView(input)) put(own, "input", input);
  if (killSignal !== undefined) put(own, "killSignal", signalOf(killSignal));
  if (folder !== undefined) put(own, "cwd", folder);
  const env: Options = bare({});
  for (let index = 0; index < pairs.length; index++) {
    const pair = pairs[index] as string;
    let end = 0;
    while (end < pair.length && charCodeAt(pair, end) !== EQUALS) end++;
    put(env, slice(pair, 0, end), slice(pair, end + 1));
  }
  put(own, "env", env);
  put(own, "stdio", stdio);
  put(own, "shell", false);
  return own;
}

function signalOf(signal: unknown): string | number {
  // WHY: Node takes names in any case.
  const isName = typeof signal === "string" && lowered(signal, 0, signal.length) !== "sigusr1";
  if (isName || (typeof signal === "number" && signal !== 10)) return signal;
  throw refusedError("a signal that opens a debugger is refused to guarded code", bare({ syscall: SYSCALL }));
}

function pairsOf(env: object): string[] {
  const pairs: string[] = [];
  // WHY: Node takes what an environment inherits as well; here it is own names alone.
  const names = keys(env);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const value = (env as Options)[name];
    if (value !== undefined) append(pairs, `${name}=${value as string}`);
  }
  return pairs;
}

function joined(file: string, args: readonly string[]): string {
  let text = file;
  for (let index = 0; index < args.length; index++) text += ` ${args[index]}`;
  return text;
}

/** As the program wrote it. */
function renamed(error: Error, path: string, written: string, args: readonly string[]): void {
  asWritten(error, path, written);
  const { message } = error;
  if (typeof message === "string") put(error, "message", message.split(path).join(written), false);
  put(error, "syscall", `spawnSync ${written}`);
  const rest: string[] = [];
  for (let index = 1; index < args.length; index++) append(rest, args[index] as string);
  put(error, "spawnargs", rest);
}

/** What `execFileSync` and `execSync` return, or the error that they throw. */
function output(ended: Ended, { options }: Call, shown: readonly [string, readonly string[]]): unknown {
  if (options["stdio"] === undefined && ended.stderr) process.stderr.write(ended.stderr as string);
  if (ended.error !== undefined) throw assign(ended.error, ended);
  if (ended.status !== 0) {
    let message = `Command failed: ${joined(shown[0], shown[1])}`;
    const said = saidText(ended.stderr);
    if (said !== "") message += `\n${said}`;
    throw assign(new NativeError(message), ended);
  }
  return ended.stdout;
}

function saidText(said: unknown): string {
  return typeof said === "string" ? said : isView(said) ? toText(said) : "";
}

const toText = (bytes: NodeJS.ArrayBufferView): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
