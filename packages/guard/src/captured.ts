/**
 * Built-ins as they were before foreign code ran. Must be the first thing that the preload loads. Whoever uses it still
 * has to avoid what the language does by itself through prototypes: `for…of`, spread, array destructuring, `await`,
 * absent properties of objects with a prototype, assignment to properties that are not yet there.
 */
/* oxlint-disable typescript/unbound-method -- built-ins are taken as they are and called through Reflect.apply */
import { AsyncResource } from "node:async_hooks";
import { charCodeAt, slice } from "@sallyport/gate/captured";

export { beginsWith, charCodeAt, errorCode, slice, uncurryThis } from "@sallyport/gate/captured";

export const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } =
  Reflect;
export const { freeze, hasOwn } = Object;
const { setPrototypeOf } = Object;
const bindStatic = AsyncResource.bind;
const NativePromise = Promise;
const promiseThen = Promise.prototype.then;
const { cwd, nextTick } = process;
const nextTurn = setImmediate;
const { add: weakAdd, has: weakHas } = WeakSet.prototype;
const SLASH = 0x2f;

/** The folder that relative paths start from. */
export function workingFolder(): string {
  return apply(cwd, process, []);
}

export function inNextTick(fn: (...args: never[]) => void, argument: unknown): void {
  apply(nextTick, process, [fn, argument]);
}

/** As what one of Node's threads has done is told: behind everything that is under way. */
export function inNextTurn<A, B>(fn: (first: A, second: B) => void, first: A, second: B): void {
  nextTurn(fn, first, second);
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

const describe = getOwnPropertyDescriptor(Symbol.prototype, "description")?.get as () => string | undefined;

/** Whether it is a symbol that Node has given this name. WHY: not by the property, whose getter foreign code can replace. */
export function isSymbolOf(key: PropertyKey | undefined, name: string): key is symbol {
  return typeof key === "symbol" && apply(describe, key, []) === name;
}

/** WHY: not `push`, which asks setters that foreign code can put on `Array.prototype`. */
export function append<T>(list: T[], value: T): void {
  SLOT.value = value;
  defineProperty(list, list.length, SLOT);
  SLOT.value = undefined;
}

/** WHY one for all: taking a prototype away costs more than all else here, and nobody else runs in between. */
const SLOT = bare<PropertyDescriptor>({
  value: undefined,
  enumerable: true,
  configurable: true,
  writable: true,
});

/** A copy, with one place changed. */
export function withArgument(args: readonly unknown[], at: number, value: unknown): unknown[] {
  const copy: unknown[] = [];
  for (let index = 0; index < args.length; index++) append(copy, index === at ? value : args[index]);
  return copy;
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
