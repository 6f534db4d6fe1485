/**
 * Strict readers of JSON values: unknown keys, other types and lengths beyond a bound are refused, nothing is dropped
 * or guessed. Field names are camelCase here and snake_case on the wire. Trusts nothing that is read.
 */
import { GateFault } from "./gate-fault.ts";

export type Read<T> = (value: unknown) => T;

type Fields = Readonly<Record<string, Read<unknown>>>;
type Optional<F extends Fields> = { [K in keyof F]: undefined extends ReturnType<F[K]> ? K : never }[keyof F];
type RecordOf<F extends Fields> = {
  readonly [K in Exclude<keyof F, Optional<F>>]: ReturnType<F[K]>;
} & { readonly [K in Optional<F>]?: ReturnType<F[K]> };

export function text(lengthMax: number): Read<string> {
  return (value) => (typeof value === "string" && value.length <= lengthMax ? value : refuse("text"));
}

/** A whole number from zero on. */
export const whole: Read<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : refuse("number");

export const flag: Read<boolean> = (value) => (typeof value === "boolean" ? value : refuse("flag"));

/** Any JSON; whoever uses it reads it by a schema of its own. */
export const anything: Read<unknown> = (value) => (value === undefined ? refuse("value") : value);

export function oneOf<const V extends string>(values: readonly V[]): Read<V> {
  return (value) => values.find((known) => known === value) ?? refuse("word");
}

export function list<T>(read: Read<T>, lengthMax: number): Read<readonly T[]> {
  return (value) =>
    Array.isArray(value) && value.length <= lengthMax
      ? Object.freeze(value.map((entry: unknown) => read(entry)))
      : refuse("list");
}

export function optional<T>(read: Read<T>): Read<T | undefined> {
  return (value) => (value === undefined ? undefined : read(value));
}

export function record<F extends Fields>(fields: F): Read<RecordOf<F>> {
  // WHY when it is first read: most kinds of messages are not read while a process starts.
  let names: readonly FieldName[] | undefined;
  let known = new Set<string>();
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return refuse("object");
    if (names === undefined) {
      names = Object.keys(fields).map((name) => ({ name, wireName: snakeCase(name) }));
      known = new Set(names.map(({ wireName }) => wireName));
    }
    for (const key of Object.keys(value))
      if (!known.has(key)) refuse(`unknown field \`${key.slice(0, 40)}\``);
    const held = value as Readonly<Record<string, unknown>>;
    const read: Record<string, unknown> = {};
    for (const { name, wireName } of names) {
      const field = (fields[name] as Read<unknown>)(
        Object.hasOwn(held, wireName) ? held[wireName] : undefined,
      );
      if (field !== undefined) read[name] = field;
    }
    return Object.freeze(read) as RecordOf<F>;
  };
}

interface FieldName {
  readonly name: string;
  readonly wireName: string;
}

/** A value of these records as it travels. Only keys of plain objects are respelled; `anything` must be wire form. */
export function wireForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireForm);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.map(([name, field]) => [snakeCase(name), wireForm(field)]));
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function refuse(expected: string): never {
  throw new GateFault("unknown_message", expected);
}
