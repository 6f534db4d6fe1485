/**
 * One name, two spellings: snake_case on the wire, camelCase in TypeScript, converted by rule and never by hand.
 * Trusts that keys are schema keys (`isWireKey`); must never see keys that a user chose.
 */
export type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

/** The deep camelCase form of a wire type; branded texts and other primitives stay as they are. */
export type CamelCased<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Element)[]
    ? readonly CamelCased<Element>[]
    : { readonly [Key in keyof T as Key extends string ? CamelCase<Key> : never]: CamelCased<T[Key]> };

// INVARIANT: on keys of this form `camelKey` and `snakeKey` undo each other; digits never begin a word.
const WIRE_KEY = /^[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)*$/;

export function isWireKey(key: string): boolean {
  return WIRE_KEY.test(key);
}

export function camelKey(key: string): string {
  return key.replace(/_[a-z]/g, (part) => part.slice(1).toUpperCase());
}

export function snakeKey(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A frozen copy with every key respelled; keys without a value are left out, as JSON leaves them out. */
export function withKeys(value: unknown, respell: (key: string) => string): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((element) => withKeys(element, respell)));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, held]) => held !== undefined);
  return Object.freeze(
    Object.fromEntries(entries.map(([key, held]) => [respell(key), withKeys(held, respell)])),
  );
}
