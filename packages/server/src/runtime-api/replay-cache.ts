/**
 * Proofs that were seen by this process. A proof serves once; it is remembered for as long as it would be accepted.
 * INVARIANT: nothing that is still acceptable is forgotten to make room. Who fills the room is refused until it empties,
 * and nobody can fill the room of another key.
 */

export type Admittance = "fresh" | "replayed" | "full";

/** What a server remembers proofs by. Nodes that answer to one origin share one; a fault of it refuses the call. */
export interface ReplayMemory {
  /** @param untilMs when the proof stops being acceptable by itself */
  admit(key: string, proofId: string, untilMs: number, nowMs: number): Admittance | Promise<Admittance>;
}

export interface ReplayLimits {
  /** Proofs of one key at a time. */
  readonly perKeyMax: number;
  readonly keysMax: number;
}

export const DEFAULT_REPLAY_LIMITS: ReplayLimits = Object.freeze({ perKeyMax: 20_000, keysMax: 1000 });

const SWEEP_MS = 5000;

export class ReplayCache implements ReplayMemory {
  readonly #limits: ReplayLimits;
  readonly #seen = new Map<string, Map<string, number>>();
  /** The latest time that something was forgotten by; what ended before it cannot be judged any more. */
  #forgottenMs = Number.NEGATIVE_INFINITY;

  constructor(limits: ReplayLimits = DEFAULT_REPLAY_LIMITS) {
    this.#limits = limits;
  }

  get size(): number {
    let size = 0;
    for (const proofs of this.#seen.values()) size += proofs.size;
    return size;
  }

  admit(key: string, proofId: string, untilMs: number, nowMs: number): Admittance {
    if (nowMs >= this.#forgottenMs + SWEEP_MS) this.#forget(nowMs);
    // WHY: a clock that was set back makes forgotten proofs acceptable again.
    if (untilMs <= this.#forgottenMs) return "replayed";
    const held = this.#seen.get(key);
    if (held?.has(proofId) === true) return "replayed";
    if (held === undefined && this.#seen.size >= this.#limits.keysMax) return "full";
    if (held !== undefined && held.size >= this.#limits.perKeyMax) return "full";
    const proofs = held ?? new Map<string, number>();
    proofs.set(proofId, untilMs);
    this.#seen.set(key, proofs);
    return "fresh";
  }

  #forget(nowMs: number): void {
    this.#forgottenMs = nowMs;
    for (const [key, proofs] of this.#seen) {
      for (const [proofId, untilMs] of proofs) if (untilMs <= nowMs) proofs.delete(proofId);
      if (proofs.size === 0) this.#seen.delete(key);
    }
  }
}
