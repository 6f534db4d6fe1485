/**
 * Handles of `fs.promises.open`. Their class is not exported, so it is learned from the first handle, before anybody
 * else holds one: from then on mode, owner and times are decided at every call.
 */
import type { AnyFunction } from "../any-function.ts";
import fs from "node:fs";
import {
  SafeWeakSet,
  append,
  apply,
  bare,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isSymbolOf,
  newPromise,
  ownKeys,
  put,
  settled,
} from "../captured.ts";
import type { Ground } from "../ground.ts";
import { refuseConstructor } from "../refused/native-constructors.ts";
import { refusing } from "../refused/refused-exports.ts";
import { replaceExport } from "../replace-export.ts";
import { changeLater } from "./descriptor-calls.ts";
import { nativeFs, nativePromises } from "./native-fs.ts";
import { beginUse, endUse, putHandle, reopened } from "./numbers-in-use.ts";
import type { Opener } from "./verified-open.ts";

export type FileHandle = fs.promises.FileHandle;

const handles = new SafeWeakSet();
const noop = freeze((): void => undefined);
const CLOSED = -1;

interface HandleClass {
  readonly fdOf: () => number;
  readonly close: () => Promise<void>;
}
let learned: HandleClass | undefined;

/** A handle that the guard has opened, or Node itself for it. */
export function isHandle(value: unknown): boolean {
  return typeof value === "object" && value !== null && handles.has(value);
}

export function handleOpener(ground: Ground): Opener<FileHandle> {
  return freeze<Opener<FileHandle>>(
    bare({
      open: (path, bits, mode, opened) => {
        settled(
          nativePromises.open(path, bits, mode),
          (handle) => {
            learned ??= learn(ground, handle);
            handles.add(handle);
            const fd = apply(learned.fdOf, handle, []);
            lockNumber(handle, fd);
            reopened(fd);
            putHandle(fd, handle);
            opened(null, handle);
          },
          (error) => opened(error, undefined as unknown as FileHandle),
        );
      },
      fdOf: (handle) => apply((learned as HandleClass).fdOf, handle, []),
      drop: (handle) => settled(apply((learned as HandleClass).close, handle, []), noop, noop),
    }),
  );
}

/** Methods that change a file, and Node's function for its descriptor. */
const CHANGING = freeze([
  freeze(["chmod", "fchmod", nativeFs.fchmodSync] as const),
  freeze(["chown", "fchown", nativeFs.fchownSync] as const),
  freeze(["utimes", "futimes", nativeFs.futimesSync] as const),
]);

/**
 * INVARIANT: the number of a handle is the one that it was opened with, until it has none. Node keeps it where the program can
 * write another one, which the calls of the handle would then mean.
 */
function lockNumber(handle: object, fd: number): void {
  let number = fd;
  const keys = ownKeys(handle);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as PropertyKey;
    if (!isSymbolOf(key, "kFd")) continue;
    const set = (given: unknown): void => {
      if (given === CLOSED) number = CLOSED;
    };
    defineProperty(handle, key, bare({ get: () => number, set, enumerable: true, configurable: false }));
    defineProperty(handle, "fd", bare({ get: () => number, enumerable: false, configurable: false }));
    return;
  }
  throw new TypeError("file handles of this Node are not known to the guard");
}

/** Calls that mean the number of the handle until they are over. */
const USING = freeze(
  "appendFile datasync read readFile readv stat sync truncate write writeFile writev".split(" "),
);
/** What goes on with the number after the handle was closed. */
const GOING_ON = freeze("pull pullSync writer".split(" "));

function countUses(prototype: object, fdOf: () => number): void {
  for (let index = 0; index < USING.length; index++)
    replaceExport(
      prototype,
      USING[index] as string,
      (original) =>
        function use(this: FileHandle, ...args: unknown[]): Promise<unknown> {
          const fd = apply(fdOf, this, []);
          beginUse(fd);
          return newPromise((resolve, reject) =>
            settled(
              apply(original, this, args) as Promise<unknown>,
              (value) => {
                endUse(fd);
                resolve(value);
              },
              (error) => {
                endUse(fd);
                reject(error);
              },
            ),
          );
        },
    );
  for (let index = 0; index < GOING_ON.length; index++) {
    const name = GOING_ON[index] as string;
    replaceExport(prototype, name, () => refusing(`FileHandle.${name}`, "use `read` and `write`"));
  }
}

/** Whoever made a handle by itself would say what number it has. */
function refuseClasses(handle: object, prototype: object): void {
  const why = "a handle is opened by `fs.promises.open` alone";
  refuseConstructor(prototype, "FileHandle", why);
  const keys = ownKeys(handle);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as PropertyKey;
    if (!isSymbolOf(key, "kHandle")) continue;
    const native = (handle as Record<symbol, object>)[key] as object;
    refuseConstructor(getPrototypeOf(native) as object, "FileHandle", why);
  }
}

function learn(ground: Ground, handle: object): HandleClass {
  const prototype = getPrototypeOf(handle) as object;
  refuseClasses(handle, prototype);
  const fdOf = getOwnPropertyDescriptor(prototype, "fd")?.get as () => number;
  countUses(prototype, fdOf);
  const close = closeOf(prototype);
  for (let index = 0; index < CHANGING.length; index++) {
    const row = CHANGING[index] as (typeof CHANGING)[number];
    const original = getOwnPropertyDescriptor(prototype, row[0])?.value as AnyFunction | undefined;
    if (original === undefined) throw new TypeError("file handles of this Node are not known to the guard");
    put(prototype, row[0], changing(ground, original, fdOf, row[1], row[2] as AnyFunction), false);
  }
  return freeze(bare({ fdOf, close }));
}

/** A field of each handle, which closes the handle it belongs to, or a method of the class. */
function closeOf(prototype: object): HandleClass["close"] {
  const method = getOwnPropertyDescriptor(prototype, "close")?.value as HandleClass["close"] | undefined;
  return method ?? closeItself;
}

function closeItself(this: FileHandle): Promise<void> {
  return this.close();
}

/** @param original for a handle that was closed: Node says so */
function changing(
  ground: Ground,
  original: AnyFunction,
  fdOf: () => number,
  syscall: string,
  now: AnyFunction,
): AnyFunction {
  return function change(this: FileHandle, ...args: unknown[]): Promise<unknown> {
    return newPromise((resolve, reject) => {
      const fd = apply(fdOf, this, []);
      if (fd < 0) {
        settled(apply(original, this, args) as Promise<unknown>, resolve, reject);
        return;
      }
      const own: unknown[] = [fd];
      for (let index = 0; index < args.length; index++) append(own, args[index]);
      changeLater(ground, syscall, now, own, (error) => {
        if (error === null) resolve(undefined);
        else reject(error);
      });
    });
  };
}
