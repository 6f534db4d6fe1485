/**
 * Folders that are read entry by entry (`fs.Dir`). Node opens what lies below a recursive one while it is read, by paths that
 * lead elsewhere by then, and its class opens whatever it is told to. So a folder with all below it is read when it was
 * decided on, its entries are handed out one by one, and nobody but Node makes a `Dir`.
 */
import type { AnyFunction } from "../any-function.ts";
import fs from "node:fs";
import { refusedError } from "../blocked-call.ts";
import {
  apply,
  bare,
  construct,
  defineProperty,
  freeze,
  inNextTick,
  newPromise,
  put,
  settled,
} from "../captured.ts";
import { replaceExport } from "../replace-export.ts";
import { type Options, optionsOf } from "./call-plan.ts";
import { nativeFs } from "./native-fs.ts";

const { opendirSync, readdirSync } = nativeFs;
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set, delete: drop } = WeakMap.prototype;
const { close } = fs.Dir.prototype;
const NativeDir = fs.Dir as unknown as new () => object;
/* oxlint-enable typescript/unbound-method */

interface Listed {
  readonly entries: readonly unknown[];
  next: number;
}
const listed = new WeakMap<object, Listed>();

function listOf(dir: object): Listed | undefined {
  return apply(get, listed, [dir]) as Listed | undefined;
}

/** `opendirSync` of a place that was decided on, with every folder below it where it is recursive. */
export const openFolder: AnyFunction = (path: string, given: unknown) => {
  const options = optionsOf(given);
  const { recursive = false, ...own } = options ?? bare<Record<string, unknown>>({});
  if (options === undefined || recursive === false) return opendirSync(path, given as object);
  const dir = opendirSync(path, bare(own));
  const encoding = (own as Options)["encoding"] ?? "utf8";
  const how = bare({ recursive: true, withFileTypes: true, encoding });
  const entries = readdirSync(path, how as { withFileTypes: true }) as readonly unknown[];
  apply(set, listed, [dir, bare({ entries, next: 0 })]);
  return dir;
};

/** The entries of a folder that was read with all below it, to be told as they were written. */
export function listedEntries(dir: unknown): readonly unknown[] | undefined {
  return typeof dir === "object" && dir !== null ? listOf(dir)?.entries : undefined;
}

function nextOf(list: Listed): unknown {
  return list.next < list.entries.length ? list.entries[list.next++] : null;
}

export function guardFolders(): void {
  const { prototype } = fs.Dir as unknown as { readonly prototype: object };
  replaceExport(
    prototype,
    "readSync",
    (original) =>
      function readSync(this: object) {
        const list = listOf(this);
        return list === undefined ? apply(original, this, []) : nextOf(list);
      },
  );
  replaceExport(
    prototype,
    "read",
    (original) =>
      function read(this: object, ...args: unknown[]) {
        const list = listOf(this);
        const callback = args[0];
        if (list === undefined || (callback !== undefined && typeof callback !== "function"))
          return apply(original, this, args);
        const entry = nextOf(list);
        if (callback === undefined) return newPromise((resolve) => resolve(entry));
        inNextTick(() => (callback as AnyFunction)(null, entry), undefined);
        return undefined;
      },
  );
  for (const name of ["close", "closeSync"])
    replaceExport(
      prototype,
      name,
      (original) =>
        function ends(this: object, ...args: unknown[]) {
          // WHY: what Node says of a folder that was closed it says by itself.
          apply(drop, listed, [this]);
          return apply(original, this, args);
        },
    );
  replaceExport(prototype, "entries", (original) => entriesOf(original));
  put(prototype, Symbol.asyncIterator, (prototype as { readonly entries: unknown }).entries, false);
  replaceExport(prototype, "readSyncRecursive", () => refused);
  refuseClass(prototype);
}

function entriesOf(original: AnyFunction): AnyFunction {
  return function entries(this: object) {
    const list = listOf(this);
    if (list === undefined) return apply(original, this, []);
    const end = (): Promise<unknown> =>
      listOf(this) === undefined
        ? newPromise((resolve) => resolve(undefined))
        : newPromise((resolve, reject) => {
            apply(drop, listed, [this]);
            settled(apply(close as AnyFunction, this, []) as Promise<unknown>, resolve, reject);
          });
    const over = (value: unknown): Promise<unknown> =>
      newPromise((resolve, reject) => settled(end(), () => resolve({ done: true, value }), reject));
    return {
      next: () => {
        const entry = nextOf(list);
        return entry === null
          ? over(undefined)
          : newPromise((resolve) => resolve({ done: false, value: entry }));
      },
      return: over,
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };
}

function refused(): never {
  throw refusedError(
    "a folder is opened by `fs.opendir` alone: read what lies below with `recursive`",
    bare({ syscall: "opendir" }),
  );
}

/** What is known as `fs.Dir` still tells what is one. */
function refuseClass(prototype: object): void {
  defineProperty(Dir, "prototype", bare({ value: prototype, writable: false }));
  freeze(Dir);
  defineProperty(prototype, "constructor", bare({ value: Dir, configurable: true, writable: true }));
  put(fs, "Dir", Dir);
}

function Dir(handle: unknown): void {
  // WHY: for want of a handle Node has words of its own.
  if (handle === undefined || handle === null) construct(NativeDir, []);
  refused();
}
