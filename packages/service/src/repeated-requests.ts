/**
 * One pending request that is asked for again and again: the first is stored, the others are counted here and written
 * as one number after a short while. Those that come at the same moment share one look at the store. A subject that
 * repeats itself costs the store one write per while, however fast it is.
 * Trusts the store's revision: what was true of a request at a revision is true while that revision stands, but for
 * its end. Must never answer anything but "this is pending"; whether something is allowed is decided before.
 */
import type { AccessStore } from "@sallyport/store";
import type { NodeClock } from "./node-clock.ts";
import { type Field, NestedMap } from "./nested-map.ts";
import type { Registered } from "./registered.ts";

export interface RepeatedRequestsOptions {
  readonly store: AccessStore;
  readonly clock: NodeClock;
  /** For the host's own log. */
  readonly faulted: (error: unknown) => void;
  /** How long a repeat may wait to be written; 1000 unless said. That much can be lost with the process. */
  readonly ageMs?: number | undefined;
}

/** What the store was found to hold, or what it is being asked. */
interface Known {
  readonly revision: number;
  readonly registered: Promise<Registered>;
}

interface Owed {
  times: number;
  lastSeenMs: number;
}

const KNOWN_MAX = 10_000;

export class RepeatedRequests {
  readonly #options: RepeatedRequestsOptions;
  #known = new NestedMap<Known>();
  /** What was known a while ago. */
  #former = new NestedMap<Known>();
  /** By request: repeats that are not written yet. */
  #owed = new Map<string, Owed>();
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: RepeatedRequestsOptions) {
    this.#options = options;
  }

  /** `register` is asked where nobody has asked it at this revision a moment ago, and told whether anybody has lately. */
  async through(
    identity: readonly Field[],
    revision: number,
    register: (seen: "lately" | "not_lately") => Promise<Registered>,
  ): Promise<Registered> {
    let tried: Known | undefined;
    for (
      let known = this.#known.get(identity);
      known !== undefined && known !== tried && known.revision === revision;
      known = this.#known.get(identity)
    ) {
      const repeated = this.#repeat(await known.registered);
      if (repeated !== null) return repeated;
      tried = known;
    }
    const isLately = this.#known.get(identity) !== undefined || this.#former.get(identity) !== undefined;
    const registered = register(isLately ? "lately" : "not_lately");
    if (this.#known.size < KNOWN_MAX) {
      this.#known.set(identity, { revision, registered });
      this.#forgetSoon();
    }
    const isKept = await registered.then(
      ({ kind }) => kind === "registered",
      () => false,
    );
    if (!isKept && this.#known.get(identity)?.registered === registered) this.#known.delete(identity);
    return registered;
  }

  /** One more that will be written with the others. */
  owe(requestId: string): void {
    const lastSeenMs = this.#options.clock.nowMs();
    const owed = this.#owed.get(requestId);
    if (owed === undefined) this.#owed.set(requestId, { times: 1, lastSeenMs });
    else {
      owed.times += 1;
      owed.lastSeenMs = Math.max(owed.lastSeenMs, lastSeenMs);
    }
    this.#forgetSoon();
  }

  /** Everything that was counted before the call is durable when this resolves. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.flush();
  }

  /** `null`: the request has run out, or there is no room to count: ask the store. */
  #repeat(registered: Registered): Registered | null {
    if (registered.kind !== "registered") return registered;
    const { requestId, expiresAtMs } = registered;
    if (this.#options.clock.nowMs() >= expiresAtMs) return null;
    if (this.#owed.size >= KNOWN_MAX && !this.#owed.has(requestId)) return null;
    this.owe(requestId);
    return { ...registered, continuationId: null, isNew: false };
  }

  async #write(): Promise<void> {
    if (this.#owed.size === 0) return;
    const taken = this.#owed;
    this.#owed = new Map();
    // WHY: in one order everywhere, so that nodes that count the same requests do not wait for each other in a circle.
    const rows = [...taken].toSorted(([a], [b]) => (a < b ? -1 : 1));
    try {
      await this.#options.store.transaction(async (tx) => {
        for (const [id, repeats] of rows) await tx.requests.countRepeats(id, repeats);
      });
    } catch (error) {
      // WHY: where it is not known whether they were written they count twice rather than not at all.
      for (const [id, { times, lastSeenMs }] of rows) this.#giveBack(id, times, lastSeenMs);
      throw error;
    }
  }

  #giveBack(id: string, times: number, lastSeenMs: number): void {
    const owed = this.#owed.get(id);
    this.#owed.set(id, {
      times: (owed?.times ?? 0) + times,
      lastSeenMs: Math.max(owed?.lastSeenMs ?? 0, lastSeenMs),
    });
  }

  #forgetSoon(): void {
    if (this.#closed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#former = this.#known;
      this.#known = new NestedMap();
      // WHY: what was known goes after a second while, also where nothing more is asked.
      if (this.#former.size > 0) this.#forgetSoon();
      this.flush().catch((error: unknown) => {
        this.#options.faulted(error);
        this.#forgetSoon();
      });
    }, this.#options.ageMs ?? 1000);
    this.#timer.unref();
  }
}
