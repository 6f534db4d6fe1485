/**
 * What one subject may ask of the approver: so many pending requests at a time, and so many new ones per second.
 * A hostile subject runs into its own limit; the others do not notice. Counts, never decides about access.
 */
import type { Subject, SubjectType } from "@sallyport/contract";
import { type BucketOptions, TokenBuckets } from "./token-bucket.ts";

export interface RequestLimitOptions extends BucketOptions {
  /** Pending requests of one subject. */
  readonly pendingMax: number;
  /** Pending requests of all subjects together: what the memory of the counts is bounded by. */
  readonly pendingTotalMax: number;
}

export const ADMISSIONS = {
  admitted: "",
  pending_limit: "the subject has too many open requests: decide some of them first",
  total_limit: "there are too many open requests in all: decide some of them first",
  rate_limit: "the subject asks too often: wait before it tries again",
} as const;

export type Admission = keyof typeof ADMISSIONS;

export class RequestLimits {
  readonly #options: RequestLimitOptions;
  readonly #buckets: TokenBuckets;
  /** INVARIANT: holds no zero; so it never holds more names than there are pending requests. */
  readonly #pending = new Map<SubjectType, Map<string, number>>();
  #total = 0;

  constructor(options: RequestLimitOptions) {
    if (!(options.pendingMax >= 1 && options.pendingTotalMax >= 1)) {
      throw new RangeError("the limits of pending requests need at least 1: correct them");
    }
    this.#options = options;
    this.#buckets = new TokenBuckets(options);
  }

  /** A new request. What is admitted counts as pending until it is released; what is refused costs nothing. */
  admit(subject: Subject): Admission {
    if (this.pendingOf(subject) >= this.#options.pendingMax) return "pending_limit";
    if (this.#total >= this.#options.pendingTotalMax) return "total_limit";
    if (!this.#buckets.take(subject)) return "rate_limit";
    this.#change(subject, 1);
    return "admitted";
  }

  /** One more sighting of a request that is pending already. */
  admitRepeat(subject: Subject): Admission {
    return this.#buckets.take(subject) ? "admitted" : "rate_limit";
  }

  /** A request was decided, expired or cancelled. */
  release(subject: Subject): void {
    if (this.pendingOf(subject) > 0) this.#change(subject, -1);
  }

  /** What the store holds at start, or after another node changed it. */
  restore(subject: Subject, pending: number): void {
    this.#change(subject, Math.max(0, pending) - this.pendingOf(subject));
  }

  pendingOf({ type, name }: Subject): number {
    return this.#pending.get(type)?.get(name) ?? 0;
  }

  get pendingTotal(): number {
    return this.#total;
  }

  /** Subjects with a bucket of their own. */
  get rated(): number {
    return this.#buckets.size;
  }

  #change({ type, name }: Subject, by: number): void {
    let names = this.#pending.get(type);
    if (names === undefined) {
      names = new Map();
      this.#pending.set(type, names);
    }
    const count = (names.get(name) ?? 0) + by;
    if (count === 0) names.delete(name);
    else names.set(name, count);
    this.#total += by;
  }
}
