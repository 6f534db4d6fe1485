/**
 * Puts a guarded function in the place of Node's own. It keeps name, length and the extra properties that others look
 * at, so that libraries cannot tell the difference; the original is held by the guard alone.
 * Some modules are loaded when foreign code has run already: what it needs was taken before.
 */
import type { AnyFunction } from "./any-function.ts";
import { promisify } from "node:util";
import { bare, defineProperty, getOwnPropertyDescriptor, hasOwn, ownKeys } from "./captured.ts";

const PROMISIFIED = promisify.custom;

/** False where there is no such function on this Node. */
export function replaceExport(
  holder: object,
  name: PropertyKey,
  wrap: (original: AnyFunction) => AnyFunction,
): boolean {
  const descriptor = getOwnPropertyDescriptor(holder, name);
  if (descriptor === undefined) return false;
  // WHY: some functions are loaded by a getter when they are first used.
  const original: unknown = (holder as Record<PropertyKey, unknown>)[name];
  if (typeof original !== "function") return false;
  const wrapped = wrap(original as AnyFunction);
  copyProperties(original as AnyFunction, wrapped);
  const { enumerable = true, configurable = true, writable = true } = descriptor;
  defineProperty(holder, name, bare({ value: wrapped, enumerable, configurable, writable }));
  return true;
}

function copyProperties(original: AnyFunction, wrapped: AnyFunction): void {
  const keys = ownKeys(original);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as PropertyKey;
    // WHY: both lead to the original: a promisified form of it, and the prototype of a class.
    if (key === PROMISIFIED || key === "prototype" || key === "native") continue;
    if (hasOwn(wrapped, key) && key !== "name" && key !== "length") continue;
    const descriptor = getOwnPropertyDescriptor(original, key);
    if (descriptor !== undefined) defineProperty(wrapped, key, descriptor);
  }
}
