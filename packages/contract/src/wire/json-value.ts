/**
 * A snapshot of a value that came from outside, as plain JSON: read once, own properties only, bounded.
 * Trusts nothing: getters, proxies and odd prototypes are refused or read a single time; it never throws.
 */
import { type PointerPath, pointerTo } from "./json-pointer.ts";

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export const JSON_DEPTH_MAX = 64;
export const JSON_VALUES_MAX = 100_000;

/** The most faults that one answer lists; a last one says how many more there are. */
export const FAULTS_MAX = 100;

export interface PointedFault {
  /** JSON pointer (RFC 6901) to the value at fault; empty for the whole document. */
  readonly pointer: string;
  /** What is wrong and what to do; lower-case, no full stop. */
  readonly message: string;
}

export type JsonSnapshot =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly faults: readonly PointedFault[] };

export interface SnapshotOptions {
  /** Where the value stands in its document. */
  readonly path?: PointerPath;
  /** `keep`: the reader judges each text by itself, so that one bad text does not hide the faults of the rest. */
  readonly loneSurrogates?: "refuse" | "keep";
}

export function snapshotJson(value: unknown, options: SnapshotOptions = {}): JsonSnapshot {
  const { path = [], loneSurrogates = "refuse" } = options;
  const reading: Reading = {
    path: [...path],
    faults: [],
    values: 0,
    isText: loneSurrogates === "keep" ? () => true : isWellFormed,
  };
  let copy: JsonValue;
  try {
    copy = copyOf(value, reading);
  } catch {
    // WHY: only a getter or a proxy of the caller can throw here.
    reading.path.length = path.length;
    addFault(reading, "cannot be read: pass plain JSON");
    copy = null;
  }
  return reading.faults.length === 0 ? { ok: true, value: copy } : { ok: false, faults: reading.faults };
}

/** Whether a text can be encoded: no half of a surrogate pair stands alone. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

interface Reading {
  readonly path: (string | number)[];
  readonly faults: PointedFault[];
  readonly isText: (text: string) => boolean;
  values: number;
}

function copyOf(value: unknown, reading: Reading): JsonValue {
  if (++reading.values > JSON_VALUES_MAX) {
    if (reading.values === JSON_VALUES_MAX + 1)
      addFault(reading, `holds more than ${JSON_VALUES_MAX} values: send less`);
    return null;
  }
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") {
    return reading.isText(value) ? value : refused(reading, "must be valid text: a surrogate stands alone");
  }
  if (typeof value === "number")
    return Number.isFinite(value) ? value : refused(reading, "must be a finite number");
  if (typeof value !== "object") return refused(reading, `must be JSON, not ${typeof value}`);
  if (reading.path.length >= JSON_DEPTH_MAX)
    return refused(reading, `is nested deeper than ${JSON_DEPTH_MAX} levels`);
  return Array.isArray(value) ? copyOfArray(value, reading) : copyOfObject(value, reading);
}

function copyOfArray(array: readonly unknown[], reading: Reading): JsonValue {
  const length = array.length;
  if (length > JSON_VALUES_MAX)
    return refused(reading, `holds more than ${JSON_VALUES_MAX} values: send less`);
  const copy: JsonValue[] = [];
  for (let index = 0; index < length; index++) copy.push(below(reading, index, array[index]));
  return copy;
}

function copyOfObject(object: object, reading: Reading): JsonValue {
  // WHY: a plain object of another realm has another `Object.prototype`; its own prototype is null as well.
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    return refused(reading, "must be a plain object");
  const copy = Object.create(null) as Record<string, JsonValue>;
  for (const key of Object.keys(object)) {
    const held = (object as Record<string, unknown>)[key];
    if (held === undefined) continue;
    if (!reading.isText(key)) refused(reading, "must have keys of valid text: a surrogate stands alone");
    copy[key] = below(reading, key, held);
  }
  return copy;
}

function below(reading: Reading, step: string | number, value: unknown): JsonValue {
  reading.path.push(step);
  const copy = copyOf(value, reading);
  reading.path.pop();
  return copy;
}

function refused(reading: Reading, message: string): null {
  addFault(reading, message);
  return null;
}

function addFault(reading: Reading, message: string): void {
  if (reading.faults.length >= FAULTS_MAX) return;
  reading.faults.push(Object.freeze({ pointer: pointerTo(reading.path), message }));
}
