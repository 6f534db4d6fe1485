/**
 * Built-ins as they were when this file was first imported, for code of the gate that runs beside foreign code.
 * Must be imported before foreign code. Whoever uses it still has to avoid what the language does by itself through
 * prototypes: `for…of`, spread, array destructuring, regular expressions, absent properties, methods.
 */
/* oxlint-disable typescript/unbound-method -- built-ins are taken as they are and called through Reflect.apply */
const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { bind, call } = Function.prototype;
const ObjectPrototype = Object.prototype;
const StringPrototype = String.prototype;
const ErrorPrototype = Error.prototype;

/** A method as a function of its receiver. */
export function uncurryThis<T, A extends readonly unknown[], R>(
  method: (this: T, ...args: A) => R,
): (receiver: T, ...args: A) => R {
  // WHY: a bound function holds what it calls inside, where nobody can replace it, and V8 sees through it.
  return apply(bind, call, [method]) as (receiver: T, ...args: A) => R;
}

export const charCodeAt: (text: string, index: number) => number = uncurryThis(StringPrototype.charCodeAt);
export const slice: (text: string, start: number, end?: number) => string = uncurryThis(
  StringPrototype.slice,
);
/** Whether `text` holds another text. */
export const holds: (text: string, part: string) => boolean = uncurryThis(StringPrototype.includes);
/** No half of a surrogate pair. */
export const isWellFormed: (text: string) => boolean = uncurryThis(
  (StringPrototype as unknown as { isWellFormed(this: string): boolean }).isWellFormed,
);
export const { fromCharCode } = String;
export const decodeComponent = decodeURIComponent;
export const hasOwn = Object.hasOwn;

/** Where `text` holds a character of this code from `start` on; -1 where it does not. */
export function indexOfCode(text: string, code: number, start: number): number {
  for (let index = start; index < text.length; index++) if (charCodeAt(text, index) === code) return index;
  return -1;
}

/** Whether a text begins with another. */
export function beginsWith(text: string, prefix: string): boolean {
  return slice(text, 0, prefix.length) === prefix;
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

const NativeMap = Map;
const mapPrototype = Map.prototype;
const mapGet = mapPrototype.get;
const mapSet = mapPrototype.set;
const mapDelete = mapPrototype.delete;
const mapKeys = mapPrototype.keys;
const mapForEach = mapPrototype.forEach;
const mapSize = getOwnPropertyDescriptor(mapPrototype, "size")?.get as () => number;
const keysNext = new Map<unknown, unknown>().keys().next;

/** A Map whose methods nobody can replace. */
export class SafeMap<K, V> {
  readonly #map = new NativeMap<K, V>();

  get size(): number {
    return apply(mapSize, this.#map, []);
  }

  get(key: K): V | undefined {
    return apply(mapGet, this.#map, [key]) as V | undefined;
  }

  set(key: K, value: V): void {
    apply(mapSet, this.#map, [key, value]);
  }

  delete(key: K): void {
    apply(mapDelete, this.#map, [key]);
  }

  /** The key that was set longest ago; only for a map that is not empty. */
  oldest(): K {
    return (apply(keysNext, apply(mapKeys, this.#map, []), []) as { readonly value: K }).value;
  }

  each(visit: (value: V, key: K) => void): void {
    apply(mapForEach, this.#map, [visit]);
  }
}

/** INVARIANT: `SafeMap` instances inherit only from these two frozen objects. */
Object.setPrototypeOf(SafeMap.prototype, null);
Object.freeze(SafeMap.prototype);
