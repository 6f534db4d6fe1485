/**
 * Calls that read or write what a file holds: open, readFile, writeFile, appendFile, truncate. The guard opens the file,
 * verifies the descriptor, and gives Node the descriptor or handle in place of the path.
 */
import type { AnyFunction } from "../any-function.ts";
import { constants } from "node:fs";
import { pathText } from "@sallyport/gate";
import { refusedError } from "../blocked-call.ts";
import { append, apply, bare, charCodeAt, freeze, newPromise, settled, withArgument } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { failing } from "./call-drivers.ts";
import { blanked, optionsOf } from "./call-plan.ts";
import { openDeclared } from "./declared-place.ts";
import { requireForeign } from "./descriptor-calls.ts";
import { ownDescriptor } from "./descriptor-owner.ts";
import { type FileHandle, handleOpener, isHandle } from "./file-handle.ts";
import { lostError } from "./lost-error.ts";
import { nativeFs } from "./native-fs.ts";
import { judgeData, judgeDataNow, judgeEncoding, judgeMode, judgeOdd } from "./odd-arguments.ts";
import { codeLater, openCode } from "./open-code.ts";
import { flagBits } from "./open-flags.ts";
import { beginOwn, beginUse, callInUse, closeOwn, endUse } from "./numbers-in-use.ts";
import { notAPath } from "./place-of.ts";
import { type OpenCall, descriptorOpener, openLater, openNow } from "./verified-open.ts";

const { closeSync } = nativeFs;
const { O_WRONLY } = constants;
const DEFAULT_MODE = 0o666;

type Callback = (error: unknown, value?: unknown) => void;
type Flag = string | number;

interface ContentCall {
  readonly name: string;
  /** What is meant where no flag is given. */
  readonly flag: Flag;
  /** Which argument may hold an object with `flag` and `mode`. */
  readonly options?: number | undefined;
  /** The first place at which a callback can stand; one unless said. */
  readonly least?: number | undefined;
  /** Node's function for a path, and the one for a descriptor where that is another one. */
  readonly original: AnyFunction;
  readonly byDescriptor?: AnyFunction | undefined;
}

export const CONTENT_CALLS = freeze([
  freeze({ name: "readFile", flag: "r" as Flag, options: 1 }),
  freeze({ name: "writeFile", flag: "w" as Flag, options: 2, least: 2 }),
  freeze({ name: "appendFile", flag: "a" as Flag, options: 2, least: 2 }),
]);
export const TRUNCATE = freeze({ name: "truncate", flag: O_WRONLY });

/** `undefined` where there is no path: a descriptor, a handle, or what Node refuses. */
function openingOf({ name, flag, options: at }: ContentCall, args: readonly unknown[]): OpenCall | undefined {
  const input = pathText(args[0]);
  if (input === undefined) return undefined;
  const options = at === undefined ? undefined : optionsOf(args[at]);
  return openCall(input, options?.["flag"] ?? flag, options?.["mode"], name);
}

function openCall(input: string, flag: unknown, mode: unknown, name: string): OpenCall {
  const bits = flagBits(flag);
  const facts = bare({ syscall: "open", path: input });
  if (bits === undefined)
    throw refusedError(`the flags of \`${name}\` open nothing that can be checked: use others`, facts);
  return freeze(bare({ input, bits, mode: modeOf(mode), facts }));
}

/** WHY: Node reads octal text too. */
function modeOf(mode: unknown): number {
  if (typeof mode === "number") return mode;
  if (typeof mode !== "string" || mode === "") return DEFAULT_MODE;
  let value = 0;
  for (let index = 0; index < mode.length; index++) {
    const digit = charCodeAt(mode, index) - 0x30;
    if (!(digit >= 0 && digit < 8)) return DEFAULT_MODE;
    value = value * 8 + digit;
  }
  return value;
}

/** What is no path goes to Node where it is a value. Descriptors are numbers. */
function withoutPath(ground: Ground, args: readonly unknown[], name: string): unknown[] {
  const first = args[0];
  if (typeof first !== "number") return withArgument(args, 0, notAPath(first, name).argument);
  requireForeign(ground, first, name);
  return withArgument(args, 0, first);
}

export function syncContent(ground: Ground, call: ContentCall): AnyFunction {
  const { original, byDescriptor = original, name } = call;
  return (...args) => {
    // WHY: what is loaded as code from a code root is no read; the expectation names this very path.
    const isRead = name === "readFile";
    const isLoading = isRead && (ground.loading.takeCode(args[0]) || ground.loading.isImport(args));
    const known = isRead && !isLoading ? readDeclared(ground, call, args) : undefined;
    if (known !== undefined) return known;
    const opening = openingOf(call, args);
    if (opening === undefined) return apply(original, undefined, withoutPath(ground, args, name));
    if (call.options !== undefined) judgeEncoding(args[call.options]);
    if (call.least === 2) judgeDataNow(args[1], false);
    const fd = (isLoading ? openCode(ground, opening.input) : undefined) ?? openNow(ground, opening);
    try {
      return apply(byDescriptor, undefined, withArgument(args, 0, fd));
    } finally {
      closeSync(fd);
    }
  };
}

/** The short way of `readFileSync`; `undefined` where the long one is needed. */
function readDeclared(ground: Ground, { original }: ContentCall, args: readonly unknown[]): unknown {
  const options = args[1];
  // WHY: an object may hold a flag, which is read once, on the long way.
  if (args.length > 2 || (options !== undefined && typeof options !== "string")) return undefined;
  const fd = openDeclared(ground, args[0]);
  if (fd === undefined) return undefined;
  try {
    return options === undefined ? original(fd) : original(fd, options);
  } finally {
    closeSync(fd);
  }
}

export function callbackContent(ground: Ground, call: ContentCall): AnyFunction {
  const { original, byDescriptor = original, name } = call;
  return (...args) => {
    const last = args.length - 1;
    const callback = args[last] as Callback;
    if (typeof callback !== "function" || last < (call.least ?? 1))
      return apply(original, undefined, blanked(args, 1));
    if (pathText(args[0]) === undefined) return callInUse(original, withoutPath(ground, args, name));
    judgeOdd(original, args, call.least ?? 1, call.options);
    if (call.least === 2) judgeData(original, args);
    const fail = failing(callback);
    attempt(fail, () => {
      const opening = openingOf(call, withArgument(args, last, undefined)) as OpenCall;
      openLater(ground, opening, descriptorOpener, (error, fd) => {
        if (error !== null) {
          fail(error);
          return;
        }
        beginOwn(ownDescriptor(ground, fd));
        const signal = call.options === undefined ? undefined : optionsOf(args[call.options])?.["signal"];
        const done: Callback = (fault, ...values) => {
          const told = name === "readFile" ? lostError(fault, fd, signal) : fault;
          closeOwn(fd);
          if (told === fault) callback(fault, ...values);
          else callback(told);
        };
        attempt(done, () =>
          apply(byDescriptor, undefined, withArgument(withArgument(args, last, done), 0, fd)),
        );
      });
    });
    return undefined;
  };
}

export function promiseContent(ground: Ground, call: ContentCall): AnyFunction {
  const { original, name } = call;
  return (...args) =>
    newPromise((resolve, reject) => {
      if (pathText(args[0]) === undefined) {
        const own = isHandle(args[0]) ? args : withoutPath(ground, args, name);
        settled(apply(original, undefined, own) as Promise<unknown>, resolve, reject);
        return;
      }
      const opening = openingOf(call, args) as OpenCall;
      if (call.options !== undefined) judgeEncoding(args[call.options]);
      if (call.least === 2) judgeDataNow(args[1], true);
      const opener = handleOpener(ground);
      const use = (error: unknown, handle: FileHandle): void => {
        if (error !== null) {
          reject(error);
          return;
        }
        const fd = ownDescriptor(ground, opener.fdOf(handle));
        beginUse(fd);
        const over = (end: (value: unknown) => void) => (value: unknown) => {
          endUse(fd);
          opener.drop(handle);
          end(value);
        };
        attempt(over(reject), () =>
          settled(
            apply(original, undefined, withArgument(args, 0, handle)) as Promise<unknown>,
            over(resolve),
            over(reject),
          ),
        );
      };
      const decided = (): void => attempt(reject, () => openLater(ground, opening, opener, use));
      if (name === "readFile" && ground.loading.isImport(args))
        codeLater(ground, opening, opener, use, decided);
      else decided();
    });
}

/** `truncate` opens for writing, which modifies, and shortens what it opened. */
export function promiseTruncate(ground: Ground, call: ContentCall): AnyFunction {
  const { original, byDescriptor = original, name } = call;
  return (...args) =>
    newPromise((resolve, reject) => {
      const opening = openingOf(call, args);
      if (opening === undefined) {
        const own = isHandle(args[0]) ? args : withoutPath(ground, args, name);
        settled(apply(original, undefined, own) as Promise<unknown>, resolve, reject);
        return;
      }
      openLater(ground, opening, descriptorOpener, (error, fd) => {
        if (error !== null) {
          reject(error);
          return;
        }
        beginOwn(ownDescriptor(ground, fd));
        const done: Callback = (fault) => {
          closeOwn(fd);
          if (fault === null || fault === undefined) resolve(undefined);
          else reject(fault);
        };
        attempt(done, () => apply(byDescriptor, undefined, [fd, args[1] ?? 0, done]));
      });
    });
}

function attempt(fail: (error: unknown) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    fail(error);
  }
}

export function openSyncCall(ground: Ground, original: AnyFunction): AnyFunction {
  return (...args) => {
    const flags = args[1];
    const isRead = flags === undefined || flags === "r" || flags === 0;
    const known = isRead && args[2] === undefined ? openDeclared(ground, args[0]) : undefined;
    if (known !== undefined) return ownDescriptor(ground, known);
    const input = pathText(args[0]);
    if (input === undefined)
      return apply(original, undefined, withArgument(args, 0, notAPath(args[0], "open").argument));
    judgeMode(args[2]);
    return ownDescriptor(ground, openNow(ground, openCall(input, args[1] ?? "r", args[2], "open")));
  };
}

export function openCallbackCall(ground: Ground, original: AnyFunction): AnyFunction {
  return (...args) => {
    const last = args.length - 1;
    const callback = args[last] as Callback;
    if (typeof callback !== "function") return apply(original, undefined, blanked(args, 1));
    const input = pathText(args[0]);
    if (input === undefined)
      return apply(original, undefined, withArgument(args, 0, notAPath(args[0], "open").argument));
    if (args[2] !== callback) judgeOdd(original, ["", 0, args[2], callback], 1);
    const fail = failing(callback);
    const own: unknown[] = [];
    for (let index = 0; index < last; index++) append(own, args[index]);
    attempt(fail, () =>
      openLater(ground, openCall(input, own[1] ?? "r", own[2], "open"), descriptorOpener, (error, fd) => {
        if (error !== null) fail(error);
        else callback(null, ownDescriptor(ground, fd));
      }),
    );
    return undefined;
  };
}

export function openPromiseCall(ground: Ground, original: AnyFunction): AnyFunction {
  return (...args) =>
    newPromise<FileHandle>((resolve, reject) => {
      const input = pathText(args[0]);
      if (input === undefined) {
        const own = withArgument(args, 0, notAPath(args[0], "open").argument);
        settled(apply(original, undefined, own) as Promise<FileHandle>, resolve, reject);
        return;
      }
      judgeMode(args[2]);
      const call = openCall(input, args[1] ?? "r", args[2], "open");
      openLater(ground, call, handleOpener(ground), (error, handle) => {
        if (error === null) ownDescriptor(ground, handleOpener(ground).fdOf(handle));
        if (error !== null) reject(error);
        else resolve(handle);
      });
    });
}
