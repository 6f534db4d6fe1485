/**
 * Copies the host's words into values that nobody can change afterwards: plain data, without prototypes, frozen all the
 * way down. Reads own properties only, each of them once. Must never keep an object that somebody else also holds.
 */
import { bare, freeze, hasOwn, isArray, ownKeys, put } from "./captured.ts";

/** Deeper than any value of a context. */
const DEPTH_MAX = 16;

/** `name` says in messages which value it is. */
export function frozenCopy<T>(value: T, name: string): T {
  return copyLevel(value, name, 0) as T;
}

function copyLevel(value: unknown, name: string, depth: number): unknown {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return value;
    case "object":
      if (value === null) return null;
      if (depth >= DEPTH_MAX) throw new TypeError(`\`${name}\` is nested too deeply: give plain data`);
      return isArray(value) ? copyList(value, name, depth) : copyFields(value, name, depth);
    case "bigint":
    case "function":
    case "symbol":
    case "undefined":
      throw new TypeError(`\`${name}\` holds a ${typeof value}: give plain data, and \`null\` for nothing`);
  }
}

function copyList(list: readonly unknown[], name: string, depth: number): readonly unknown[] {
  const copy: unknown[] = [];
  const { length } = list;
  for (let index = 0; index < length; index++) {
    const entry = hasOwn(list, index) ? list[index] : undefined;
    put(copy, index, copyLevel(entry, name, depth + 1));
  }
  return freeze(copy);
}

function copyFields(fields: object, name: string, depth: number): object {
  const copy = bare({});
  const keys = ownKeys(fields);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (typeof key !== "string") continue;
    put(copy, key, copyLevel((fields as Record<string, unknown>)[key], name, depth + 1));
  }
  return freeze(copy);
}
