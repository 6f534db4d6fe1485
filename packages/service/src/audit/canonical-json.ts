/**
 * Canonical JSON (RFC 8785): the one text of a value, so that equal events have equal hashes. Byte for byte what the
 * library `canonicalize` writes (a property test compares them); written here because every row of the log pays for it.
 * Refuses what is not JSON. Must never drop a part of a value in silence, except members that are `undefined`.
 */

export function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null)
    throw new TypeError("only JSON has a canonical form: give an object or array");
  return textOf(value);
}

const DEPTH_MAX = 200;
const keptTexts = new WeakMap<object, string>();

/**
 * Writes a value once for everything that will hold it.
 * INVARIANT: only what can never change is kept, or an event would say what was true of another one.
 */
export function keepText(value: object): void {
  if (!isFrozenThroughout(value))
    throw new TypeError("the value can still change: freeze it and everything in it");
  // WHY read again: a text that was put together is copied piece by piece wherever it goes, until somebody reads it.
  keptTexts.set(value, Buffer.from(textOf(value)).toString());
}

/** A getter is not frozen: it may answer something else next time. */
export function isFrozenThroughout(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === DEPTH_MAX || !Object.isFrozen(value)) return false;
  return Object.values(Object.getOwnPropertyDescriptors(value)).every(
    (member) => "value" in member && isFrozenThroughout(member.value, depth + 1),
  );
}

/** Text whose form is its own characters. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function textOf(value: unknown, depth = 0): string {
  switch (typeof value) {
    case "string":
      return stringText(value);
    case "number":
      if (!Number.isFinite(value))
        throw new TypeError(`\`${value}\` is not JSON (NaN and Infinity have no form): leave it out`);
      return Object.is(value, -0) ? "0" : String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth === DEPTH_MAX) throw new TypeError("the value is nested too deep: make it flatter");
      return (
        keptTexts.get(value) ?? (Array.isArray(value) ? arrayText(value, depth) : objectText(value, depth))
      );
    case "bigint":
    case "function":
    case "symbol":
    case "undefined":
      throw new TypeError(`a \`${typeof value}\` is not JSON: leave it out`);
  }
}

/** WHY: most texts need no escape, and then their own characters are their form. */
function stringText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  // WHY: a guarded program can ask for a target with half a surrogate pair, and that must not go unrecorded.
  return JSON.stringify(isWellFormed(text) ? text : withVisibleSurrogates(text));
}

function arrayText(values: readonly unknown[], depth: number): string {
  let text = "[";
  for (let index = 0; index < values.length; index++) {
    if (index > 0) text += ",";
    text += textOf(values[index] ?? null, depth + 1);
  }
  return `${text}]`;
}

function objectText(value: object, depth: number): string {
  const held = value as Readonly<Record<string, unknown>>;
  if (typeof held["toJSON"] === "function")
    throw new TypeError("a value with a `toJSON` is not JSON: give what it returns");
  const keys = Object.keys(held);
  const order = knownOrder(keys);
  if (order === undefined) return objectText(withVisibleKeys(held), depth);
  let text = "{";
  for (const { key, first, next } of order) {
    const member = held[key];
    if (member === undefined) continue;
    const name = text.length > 1 ? next : first;
    text = `${text}${name}${textOf(member, depth + 1)}`;
  }
  return `${text}}`;
}

interface Member {
  readonly key: string;
  /** The key as it stands in the text, with its colon. */
  readonly first: string;
  /** The same behind another member. */
  readonly next: string;
}

/** Orders of keys that were met, by one key after the other as they stood in the object. */
interface Orders {
  readonly next: Map<string, Orders>;
  order: readonly Member[] | null;
}

const ORDERS_MAX = 2000;
const root: Orders = { next: new Map(), order: null };
let orders = 0;

/** WHY: events have few shapes, and sorting the same keys again is most of what a row costs. */
function knownOrder(keys: readonly string[]): readonly Member[] | undefined {
  let at = root;
  for (const key of keys) {
    let next = at.next.get(key);
    if (next === undefined) {
      // INVARIANT: bounded, whatever keys come.
      if (orders >= ORDERS_MAX) return orderOf(keys);
      orders += 1;
      next = { next: new Map(), order: null };
      at.next.set(key, next);
    }
    at = next;
  }
  at.order ??= orderOf(keys) ?? null;
  return at.order ?? undefined;
}

/** By UTF-16 code units. `undefined` where a key has half a surrogate pair. */
function orderOf(keys: readonly string[]): readonly Member[] | undefined {
  if (!keys.every(isWellFormed)) return undefined;
  return keys.toSorted().map((key) => {
    const first = `${stringText(key)}:`;
    return { key, first, next: `,${first}` };
  });
}

function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

function withVisibleSurrogates(text: string): string {
  return text.replace(/[\ud800-\udfff]/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

function withVisibleKeys(held: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(held).map(([key, member]) => [withVisibleSurrogates(key), member]),
  );
}
