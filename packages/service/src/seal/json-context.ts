/**
 * What a resume context may be: plain JSON of at most 16 KiB, so that an action gets exactly what was given.
 * Reads every property once; never calls into the value except through getters of its own making, whose faults are
 * answered like any other.
 */

export const CONTEXT_BYTES_MAX = 16_384;
const DEPTH_MAX = 64;

export type ContextText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export function contextText(context: unknown): ContextText {
  try {
    const budget = { bytes: CONTEXT_BYTES_MAX };
    const text = JSON.stringify(plainCopy(context, "", 0, budget));
    return Buffer.byteLength(text, "utf8") <= CONTEXT_BYTES_MAX
      ? { ok: true, text }
      : { ok: false, message: TOO_LARGE };
  } catch (error) {
    const message =
      error instanceof ContextFault ? error.message : "the resume context cannot be read: give plain JSON";
    return { ok: false, message };
  }
}

/** All the way down. */
export function deepFrozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const held of Object.values(value)) deepFrozen(held);
    Object.freeze(value);
  }
  return value;
}

const TOO_LARGE = `the resume context is larger than ${CONTEXT_BYTES_MAX} bytes: keep the data elsewhere and give a reference to it`;

class ContextFault extends Error {}

function plainCopy(value: unknown, place: string, depth: number, budget: { bytes: number }): Json {
  if (depth > DEPTH_MAX)
    throw new ContextFault(`the resume context is nested deeper than ${DEPTH_MAX}: flatten it`);
  // WHY: a huge value is refused before it is copied; the exact length is taken at the end.
  spend(budget, typeof value === "string" ? value.length : 1);
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) {
    const made: Json[] = [];
    for (let index = 0; index < value.length; index++)
      made.push(plainCopy(value[index], `${place}/${index}`, depth + 1, budget));
    return made;
  }
  if (typeof value !== "object" || !isPlain(value)) {
    throw new ContextFault(
      `the resume context is not plain JSON at \`${place}\`: write it as text, number, list or object`,
    );
  }
  const made: { [key: string]: Json } = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw new ContextFault("the resume context has a key `__proto__`: rename it");
    const held = (value as Record<string, unknown>)[key];
    spend(budget, key.length);
    if (held !== undefined) made[key] = plainCopy(held, `${place}/${key}`, depth + 1, budget);
  }
  return made;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function spend(budget: { bytes: number }, bytes: number): void {
  budget.bytes -= bytes;
  if (budget.bytes < 0) throw new ContextFault(TOO_LARGE);
}
