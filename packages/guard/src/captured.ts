/**
 * Built-ins as they were before foreign code ran. Must be the first thing that the preload loads. Whoever uses it still
 * has to avoid what the language does by itself through prototypes: `for…of`, spread, array destructuring, `await`,
 * absent properties of objects with a prototype, assignment to properties that are not yet there.
 */
/* oxlint-disable typescript/unbound-method -- built-ins are taken as they are and called through Reflect.apply */
import { AsyncResource } from "node:async_hooks";

export const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
export const { freeze, hasOwn } = Object;
const { setPrototypeOf } = Object;
const ObjectPrototype = Object.prototype;
const StringPrototype = String.prototype;
const ErrorPrototype = Error.prototype;
const { charCodeAt: textCharCodeAt, slice: textSlice } = StringPrototype;
const bindStatic = AsyncResource.bind;
const NativePromise = Promise;
const promiseThen = Promise.prototype.then;
const { cwd, nextTick } = process;
const { add: weakAdd, has: weakHas } = WeakSet.prototype;
const SLASH = 0x2f;

/** The folder that relative paths start from. */
export function workingFolder(): string {
  return apply(cwd, process, []);
}

export function inNextTick(fn: (...args: never[]) => void, argument: unknown): void {
  apply(nextTick, process, [fn, argument]);
}

/** A WeakSet whose methods nobody can replace. */
export class SafeWeakSet {
  readonly #set = new WeakSet<object>();

  add(value: object): void {
    apply(weakAdd, this.#set, [value]);
  }

  has(value: object): boolean {
    return apply(weakHas, this.#set, [value]);
  }
}
setPrototypeOf(SafeWeakSet.prototype, null);
freeze(SafeWeakSet.prototype);

/** Runs `work` while nothing that Node says about itself is shown. For the time before the program runs. */
export function quietly<R>(work: () => R): R {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

export function charCodeAt(text: string, index: number): number {
  return apply(textCharCodeAt, text, [index]);
}

export function slice(text: string, start: number, end: number = text.length): string {
  return apply(textSlice, text, [start, end]);
}

export function beginsWith(text: string, prefix: string): boolean {
  return text.length >= prefix.length && slice(text, 0, prefix.length) === prefix;
}

/** The text before the last slash; `/` for a name in the root. */
export function parentOf(path: string): string {
  let index = path.length - 1;
  while (index > 0 && charCodeAt(path, index) !== SLASH) index--;
  return index <= 0 ? "/" : slice(path, 0, index);
}

/** Takes the prototype away: what is absent is then not found on a polluted one. */
export function bare<T extends object>(value: T): T {
  return setPrototypeOf(value, null) as T;
}

/** Makes an own property, whatever stands on the prototypes. */
export function put(holder: object, key: PropertyKey, value: unknown, enumerable = true): void {
  defineProperty(holder, key, bare({ value, enumerable, configurable: true, writable: true }));
}

/** WHY: not `push`, which asks setters that foreign code can put on `Array.prototype`. */
export function append<T>(list: T[], value: T): void {
  put(list, list.length, value);
}

/** A copy, with one place changed. */
export function withArgument(args: readonly unknown[], at: number, value: unknown): unknown[] {
  const copy: unknown[] = [];
  for (let index = 0; index < args.length; index++) append(copy, index === at ? value : args[index]);
  return copy;
}

/** Whether a property could be seen or changed on its way into or out of Node's own functions. */
export function isPolluted(name: string): boolean {
  return (
    hasOwn(ObjectPrototype, name) ||
    hasOwn(StringPrototype, name) ||
    hasOwn(ErrorPrototype, name) ||
    getPrototypeOf(StringPrototype) !== ObjectPrototype ||
    getPrototypeOf(ErrorPrototype) !== ObjectPrototype
  );
}

/** The code of an error that Node threw; `undefined` where it is not plainly there. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || isPolluted("code")) return undefined;
  const property = getOwnPropertyDescriptor(error, "code");
  if (property === undefined || !hasOwn(property, "value")) return undefined;
  return typeof property.value === "string" ? property.value : undefined;
}

/** The function in the asynchronous context of now. It must not be trusted to be called once, or with anything. */
export function bindContext(fn: () => void): () => void {
  return apply(bindStatic, AsyncResource, [fn]);
}

export function newPromise<T>(
  run: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  return new NativePromise<T>(run as (resolve: (value: T | PromiseLike<T>) => void) => void);
}

/** Reads a promise of Node's own. What the two functions return goes nowhere. */
export function settled<T>(
  promise: Promise<T>,
  done: (value: T) => void,
  failed: (error: unknown) => void,
): void {
  apply(promiseThen, promise, [done, failed]);
}
