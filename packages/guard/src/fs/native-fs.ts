/**
 * Node's own file functions, taken before anything was replaced. INVARIANT: a path that goes in is text that was checked
 * for names which foreign code could have put on a prototype: with `href` there, Node takes a text for a URL.
 */
import fs from "node:fs";
import path from "node:path";
import { refusedError } from "../blocked-call.ts";
import {
  bare,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  ownKeys,
} from "../captured.ts";

export const nativeFs: Readonly<typeof fs> = Object.freeze({ ...fs });
export const nativePromises: Readonly<typeof fs.promises> = Object.freeze({ ...fs.promises });

/**
 * Node's file functions hand every path to `path.toNamespacedPath` and its like, looked up when they are used. Whoever
 * replaced one of them would say what is opened, after the decision, and what the descriptor is called.
 */
export function closePathModule(): void {
  for (const holder of [path, path.posix]) {
    for (const key of ownKeys(holder)) {
      const property = getOwnPropertyDescriptor(holder, key);
      if (property?.configurable === true && "value" in property)
        defineProperty(holder, key, { ...property, writable: false, configurable: false });
    }
  }
}

const ObjectPrototype = Object.prototype;
const StringPrototype = String.prototype;
const VALUES = freeze([
  StringPrototype,
  Number.prototype,
  Boolean.prototype,
  Symbol.prototype,
  BigInt.prototype,
  Array.prototype,
  Function.prototype,
]);

/** Nothing is handed to Node while a text can be taken for something else. */
export function requireCleanText(): void {
  requireClean(StringPrototype);
}

/** The same for values of any kind, which Node is given so that it refuses them. */
export function requireCleanValues(): void {
  for (let index = 0; index < VALUES.length; index++) requireClean(VALUES[index] as object);
}

function requireClean(prototype: object): void {
  // WHY in this order: behind `Object.prototype` there is nothing, so then `in` asks nobody who could lie.
  if (getPrototypeOf(prototype) !== ObjectPrototype || "href" in prototype)
    throw refusedError(
      "a prototype of the built-ins has `href`, so Node would take a path for a URL: remove it",
      bare({ syscall: "path" }),
    );
}
