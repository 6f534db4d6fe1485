/**
 * Built-ins as they were when this file was first imported. Must be imported before foreign code. Whoever uses it still
 * has to avoid what the language does by itself through prototypes: `for…of`, spread, array destructuring, absent
 * properties, assignment to properties that are not yet there.
 */
/* oxlint-disable typescript/unbound-method -- built-ins are taken as they are and called through Reflect.apply */
export const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } =
  Reflect;
export const { freeze, hasOwn, isFrozen, setPrototypeOf } = Object;
export const { isArray } = Array;
export const toText = String;

/** Makes an own property, whatever stands on the prototypes. */
export function put(holder: object, key: PropertyKey, value: unknown): void {
  defineProperty(holder, key, {
    __proto__: null,
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  } as PropertyDescriptor);
}

/** Takes the prototype away: what is absent is then not found on a polluted one. */
export function bare<T extends object>(value: T): T {
  return setPrototypeOf(value, null) as T;
}

const weakGet = WeakMap.prototype.get;
const weakSet = WeakMap.prototype.set;
const weakDelete = WeakMap.prototype.delete;

/** A WeakMap whose methods nobody can replace. */
export class SafeWeakMap<K extends object, V> {
  readonly #map = new WeakMap<K, V>();

  get(key: K): V | undefined {
    return apply(weakGet, this.#map, [key]) as V | undefined;
  }

  set(key: K, value: V): void {
    apply(weakSet, this.#map, [key, value]);
  }

  delete(key: K): void {
    apply(weakDelete, this.#map, [key]);
  }
}

/** INVARIANT: instances inherit only from this frozen object. */
freeze(bare(SafeWeakMap.prototype));
