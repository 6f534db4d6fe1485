/**
 * Time and ids as a node takes them. Wall time dates things; leases are measured on the monotonic clock, which no
 * administrator and no time server can move.
 */
import { randomFillSync } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Timestamp } from "@sallyport/contract";

export interface NodeClock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds since some moment of this process; never goes back. */
  monotonicMs(): number;
}

export const systemClock: NodeClock = Object.freeze({
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
});

/** The kind of a thing is the beginning of its id. */
export type IdKind =
  | "request"
  | "approval"
  | "denial"
  | "rule"
  | "action"
  | "event"
  | "decision"
  | "continuation"
  | "job";

export type NewId = (kind: IdKind) => string;

const ID_BYTES = 16;
/** WHY: one draw for many ids; drawing each by itself costs more than all the rest of making one. */
const drawn = Buffer.alloc(256 * ID_BYTES);
let used = drawn.length;

/** 128 random bits, each given once: nobody guesses a request of somebody else. */
export const randomId: NewId = (kind) => {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += ID_BYTES;
  return `${kind}-${drawn.toString("hex", used - ID_BYTES, used)}`;
};

let writtenMs = Number.NaN;
let written = "";

/** WHY kept: what is recorded in one moment has one time. */
export function timestampOf(timeMs: number): Timestamp {
  if (timeMs !== writtenMs) {
    written = new Date(timeMs).toISOString();
    writtenMs = timeMs;
  }
  return written as Timestamp;
}
