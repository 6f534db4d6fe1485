/**
 * What crosses the border of the private realm: one function, primitives only, the same seven arguments for every
 * operation so that one call site stays fast.
 */
export const OP = Object.freeze({
  /** handle, pair, text, ask, nowMs, extras → packed verdict. */
  check: 1,
  /** → JSON text of the verdict of the last check; empty where there is none. */
  verdict: 2,
  /** As check → JSON text of the explanation. */
  explain: 3,
  /** text: a context as JSON → handle from 1 on, or 0 where it was refused. */
  open: 4,
  /** handle → 1, or 0 where there was none. */
  close: 5,
  /** text: a JSON list of changes → JSON text of {@link Applied}. */
  apply: 6,
  /** → revision of the snapshot. */
  revision: 7,
});

/** Positions of `default`, `explicit` and `passive`, as `ask` carries them. */
export const ASK = Object.freeze({ default: 0, explicit: 1, passive: 2 });

/** What every operation but a check gives where it failed. */
export const NO_ANSWER = -1;

/** The one function of the realm. A check that fails is the packed verdict `unavailable`. */
export type Border = (
  op: number,
  handle: number,
  pair: number,
  text: string,
  ask: number,
  nowMs: number,
  extras: string,
) => number | string;

/** What became of a list of changes: those before the first fault are in force. */
export interface Applied {
  readonly applied: number;
  readonly revision: number;
  readonly fault?: { readonly code: string; readonly field: string; readonly message: string };
}

/** What a question may carry beside access, ask and time. Keys that are absent are left out of the text. */
export interface Extras {
  readonly address?: string;
  readonly aliases?: readonly string[];
  /** The same executable seen the other way: a pair's position and its target. */
  readonly twin?: readonly [pair: number, text: string];
  readonly named?: readonly [type: string, name: string];
  readonly hook?: readonly [answer: string, ref: string];
  readonly classifier?: readonly [answer: string, ref: string];
}
