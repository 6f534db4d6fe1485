/**
 * Token buckets, one per subject, in bounded memory. A bucket that has filled up again is forgotten: it is what a new
 * one would be. Where there is no room left, newcomers share one bucket, so that a flood of names gains nothing:
 * no subject ever gets more than it would from a bucket that is kept for ever.
 */
import type { Subject, SubjectType } from "@sallyport/contract";

export interface BucketOptions {
  /** Tokens of a full bucket. */
  readonly burst: number;
  readonly perSecond: number;
  /** Subjects of one type that have a bucket of their own at a time. */
  readonly subjectsMax: number;
  /** Milliseconds; may jump, never widens by more than a full bucket. */
  readonly nowMs: () => number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Buckets by name, the one taken from longest ago first. */
interface Shelf {
  readonly buckets: Map<string, Bucket>;
  /** For those that found no room. */
  readonly shared: Bucket;
}

export class TokenBuckets {
  readonly #options: BucketOptions;
  readonly #shelves = new Map<SubjectType, Shelf>();

  constructor(options: BucketOptions) {
    const { burst, perSecond, subjectsMax } = options;
    if (!(burst >= 1 && perSecond > 0 && subjectsMax >= 1)) {
      throw new RangeError("burst and subjects need at least 1, the rate more than 0: correct the limits");
    }
    this.#options = options;
  }

  /** Whether there was a token; it is gone then. */
  take({ type, name }: Subject): boolean {
    const nowMs = this.#options.nowMs();
    const shelf = this.#shelf(type, nowMs);
    const bucket = this.#bucket(shelf, name, nowMs);
    this.#fill(bucket, nowMs);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    if (bucket !== shelf.shared) {
      // WHY: deleted first, so that it moves to the end of the map.
      shelf.buckets.delete(name);
      shelf.buckets.set(name, bucket);
    }
    return true;
  }

  /** How many subjects have a bucket of their own. */
  get size(): number {
    let size = 0;
    for (const { buckets } of this.#shelves.values()) size += buckets.size;
    return size;
  }

  #shelf(type: SubjectType, nowMs: number): Shelf {
    let shelf = this.#shelves.get(type);
    if (shelf === undefined) {
      shelf = { buckets: new Map(), shared: { tokens: this.#options.burst, atMs: nowMs } };
      this.#shelves.set(type, shelf);
    }
    return shelf;
  }

  #bucket({ buckets, shared }: Shelf, name: string, nowMs: number): Bucket {
    const known = buckets.get(name);
    if (known !== undefined) return known;
    this.#forgetFull(buckets, nowMs);
    if (buckets.size >= this.#options.subjectsMax) return shared;
    // INVARIANT: whoever took from the shared bucket does not begin anew; it starts from what is left there.
    this.#fill(shared, nowMs);
    return { ...shared };
  }

  /** INVARIANT: only a bucket that equals a new one is forgotten; so forgetting grants nothing. */
  #forgetFull(buckets: Map<string, Bucket>, nowMs: number): void {
    for (const [name, bucket] of buckets) {
      this.#fill(bucket, nowMs);
      if (bucket.tokens < this.#options.burst) return;
      buckets.delete(name);
    }
  }

  #fill(bucket: Bucket, nowMs: number): void {
    const elapsedMs = nowMs - bucket.atMs;
    // WHY: a clock that went back, or is no number, fills nothing; the bucket goes on from the new time.
    const gained = elapsedMs > 0 ? (elapsedMs / 1000) * this.#options.perSecond : 0;
    bucket.tokens = Math.min(this.#options.burst, bucket.tokens + gained);
    bucket.atMs = nowMs;
  }
}
