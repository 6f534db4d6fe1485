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

export const camelKey = remembered((key) => key.replace(/_[a-z]/g, (part) => part.slice(1).toUpperCase()));

export const snakeKey = remembered((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

const REMEMBERED_MAX = 1000;

/** WHY: there are a few hundred schema keys, and each is respelled in every event. */
function remembered(respell: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const respelled = respell(key);
    if (known.size < REMEMBERED_MAX) known.set(key, respelled);
    return respelled;
  };
}

/** A frozen copy with every key respelled; keys without a value are left out, as JSON leaves them out. */
export function withKeys(value: unknown, respell: (key: string) => string): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((element) => withKeys(element, respell)));
  if (typeof value !== "object" || value === null) return value;
  const respelled: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const held = (value as Readonly<Record<string, unknown>>)[key];
    if (held !== undefined) respelled[respell(key)] = withKeys(held, respell);
  }
  return Object.freeze(respelled);
}
