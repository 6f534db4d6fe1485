/**
 * How long a job may still be worked on, by the clock of whoever works on it. Its signal is aborted before the lease is
 * over for whoever gave it, also where nobody answers any more: from then on somebody else may have the job.
 * Trusts that `sinceMs` was taken before the lease was asked for.
 */

const RENEWALS_A_LEASE = 3;
/** WHY a part only: whoever is told to stop needs a moment for it. */
const USABLE = 5 / 6;

export interface HeldLeaseOptions {
  readonly leaseMs: number;
  /** When it was asked for, on the monotonic clock. */
  readonly sinceMs: number;
  readonly monotonicMs: () => number;
  /** `false`: it is lost. `undefined`, or a fault: nobody answered. */
  readonly renew: () => Promise<boolean | undefined>;
}

export class HeldLease {
  readonly #options: HeldLeaseOptions;
  readonly #abort = new AbortController();
  readonly #renewal: NodeJS.Timeout;
  #end: NodeJS.Timeout | undefined;

  constructor(options: HeldLeaseOptions) {
    this.#options = options;
    this.#holdFrom(options.sinceMs);
    const everyMs = Math.max(1, Math.floor(options.leaseMs / RENEWALS_A_LEASE));
    this.#renewal = setInterval(() => void this.#renew(), everyMs).unref();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.#abort.abort();
  }

  /** The work is over: nothing is renewed and nothing aborted any more. */
  release(): void {
    clearInterval(this.#renewal);
    clearTimeout(this.#end);
  }

  #holdFrom(sinceMs: number): void {
    const { leaseMs, monotonicMs } = this.#options;
    clearTimeout(this.#end);
    const leftMs = sinceMs + leaseMs * USABLE - monotonicMs();
    if (leftMs <= 0) this.#abort.abort();
    else this.#end = setTimeout(() => this.#abort.abort(), leftMs).unref();
  }

  async #renew(): Promise<void> {
    const sinceMs = this.#options.monotonicMs();
    const isHeld = await this.#options.renew().catch(() => undefined);
    if (isHeld === false) this.#abort.abort();
    else if (isHeld === true && !this.signal.aborted) this.#holdFrom(sinceMs);
  }
}
