/**
 * Handles of `fs.promises.open`. Their class is not exported, so it is learned from the first handle, before anybody
 * else holds one: from then on mode, owner and times are decided at every call.
 */
import fs from "node:fs";
import {
  SafeWeakSet,
  apply,
  bare,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  newPromise,
  put,
  settled,
} from "../captured.ts";
import type { Ground } from "../ground.ts";
import type { AnyFunction } from "./call-drivers.ts";
import { changeOf } from "./descriptor-calls.ts";
import { nativePromises } from "./native-fs.ts";
import type { Opener } from "./verified-open.ts";

export type FileHandle = fs.promises.FileHandle;

const handles = new SafeWeakSet();
const noop = freeze((): void => undefined);

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
            learned ??= learn(ground, getPrototypeOf(handle) as object);
            handles.add(handle);
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

const CHANGING = freeze(["chmod", "chown", "utimes"]);

function learn(ground: Ground, prototype: object): HandleClass {
  const fdOf = getOwnPropertyDescriptor(prototype, "fd")?.get as () => number;
  const close = closeOf(prototype);
  for (let index = 0; index < CHANGING.length; index++) {
    const name = CHANGING[index] as string;
    const original = getOwnPropertyDescriptor(prototype, name)?.value as AnyFunction | undefined;
    if (original === undefined) throw new TypeError("file handles of this Node are not known to the guard");
    put(prototype, name, changing(ground, original, fdOf, `f${name}`), false);
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

function changing(ground: Ground, original: AnyFunction, fdOf: () => number, syscall: string): AnyFunction {
  return function change(this: FileHandle, ...args: unknown[]): Promise<unknown> {
    return newPromise((resolve, reject) =>
      ground.decider.later(changeOf(apply(fdOf, this, [])), bare({ syscall }), (blocked) => {
        if (blocked !== undefined) reject(blocked);
        else settled(apply(original, this, args) as Promise<unknown>, resolve, reject);
      }),
    );
  };
}
