/**
 * How often somebody may try: a few times at once, then slowly. Bounded in memory: the one that was quiet for longest is
 * forgotten first, and by then it may try again anyway.
 */

export interface AttemptLimits {
  readonly burst: number;
  readonly everyMs: number;
  readonly keysMax: number;
}

/** Of every call of one person: far more than a page needs, far less than a loop makes. */
export const CALL_LIMITS: AttemptLimits = Object.freeze({ burst: 1000, everyMs: 10, keysMax: 10_000 });

export const SIGN_IN_LIMITS: AttemptLimits = Object.freeze({ burst: 10, everyMs: 15_000, keysMax: 10_000 });

interface Bucket {
  left: number;
  atMs: number;
}

export class AttemptLimit {
  readonly #limits: AttemptLimits;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<number | string, Bucket>();

  constructor(limits: AttemptLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Whether one more is allowed now. Takes it. */
  take(key: number | string): boolean {
    const { burst, everyMs, keysMax } = this.#limits;
    const nowMs = this.#nowMs();
    const known = this.#buckets.get(key) ?? { left: burst, atMs: nowMs };
    const earned = Math.max(0, nowMs - known.atMs) / everyMs;
    const left = Math.min(burst, known.left + earned);
    this.#buckets.delete(key);
    this.#buckets.set(key, { left: left >= 1 ? left - 1 : left, atMs: nowMs });
    if (this.#buckets.size > keysMax) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return left >= 1;
  }

  /** After a success: the next mistake is a first one again. */
  forgive(key: number | string): void {
    this.#buckets.delete(key);
  }
}
