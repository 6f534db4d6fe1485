/**
 * The node's view of the store, kept current from the change log: hints wake it, reads make it certain, and where
 * the log was trimmed it is made anew. Fences itself: once its lease could not be renewed by its own monotonic
 * clock, `live` is false, approvals count as unavailable and only the allowlist goes on.
 * Trusts the store's change log as long as it only grows: a store that went back, or whose last change is another one, is not the
 * store this view is of. Must never be live on a view that may be stale.
 */
import type { Snapshot, SnapshotOptions } from "@sallyport/policy";
import { type AccessStore, type ApprovalRow, StoreUnavailableError } from "@sallyport/store";
import { type HostChange, HostFacts } from "./host-facts.ts";
import { HeldFacts } from "./held-facts.ts";
import type { NodeClock } from "./node-clock.ts";
import { type Reached, endOfLog, nextChanges } from "./next-changes.ts";
import { SharedRun } from "./shared-run.ts";

export interface LiveSnapshotOptions extends SnapshotOptions {
  readonly store: AccessStore;
  readonly nodeId: string;
  readonly clock: NodeClock;
  /** How far this node may confirm once it has reached a revision: never further than its guarded children are. */
  readonly confirmable: (revision: number) => number;
  /** Built-in denies, contracts and registrations that hold from the start. */
  readonly hostFacts: readonly HostChange[];
  /** Told once, where the store went back. */
  readonly faulted: (error: unknown) => void;
  /** 2000 unless said. */
  readonly leaseMs?: number | undefined;
  /** 500 unless said. */
  readonly beatMs?: number | undefined;
}

export class LiveSnapshot {
  readonly leaseMs: number;
  readonly #options: LiveSnapshotOptions;
  readonly #hostFacts = new HostFacts();
  readonly #listeners = new Set<() => void>();
  #held: HeldFacts;
  #reached: Reached = { revision: -1, newest: undefined };
  #wentBack: StoreUnavailableError | null = null;
  /** The newest revision that somebody spoke of. */
  #known = 0;
  /** A revision of this node's own making that it could not take: it is acknowledged, and must not be missing here. */
  #missing = 0;
  #leaseEndMs = Number.NEGATIVE_INFINITY;
  #running = false;
  readonly #catchingUp = new SharedRun(() => this.#move());
  /** WHY shared: changes that come close together are confirmed together. */
  readonly #beating = new SharedRun(() => this.#renew());
  #isHinted = false;
  #timer: NodeJS.Timeout | null = null;
  #unlisten: () => void = () => undefined;

  constructor(options: LiveSnapshotOptions) {
    this.#options = options;
    this.leaseMs = options.leaseMs ?? 2000;
    for (const change of options.hostFacts) this.#hostFacts.take(change);
    this.#held = new HeldFacts(options, this.#hostFacts);
  }

  get snapshot(): Snapshot {
    return this.#held.snapshot;
  }

  get facts(): HeldFacts {
    return this.#held;
  }

  /** The store's revision that this view has reached. */
  get revision(): number {
    return this.#reached.revision;
  }

  /**
   * WHY a newer revision that is only known of does not matter: whoever made it waits until this node has confirmed it,
   * or its lease is over.
   * INVARIANT: judged at the moment of use; a lease that ran out a moment ago is over.
   */
  get live(): boolean {
    if (!this.#running || !this.#held.sound || this.revision < this.#missing) return false;
    if (this.#wentBack !== null) return false;
    return this.#options.clock.monotonicMs() < this.#leaseEndMs;
  }

  /** Catches up where a newer revision is known of. Where that fails the view stays what it is, as long as its lease lasts. */
  async fresh(): Promise<void> {
    if (this.revision < this.#known) await this.catchUp().catch(() => undefined);
  }

  async start(): Promise<void> {
    this.#running = true;
    this.#unlisten = this.#options.store.onRevision((revision) => {
      this.#known = Math.max(this.#known, revision);
      if (revision > this.revision) this.#hint();
    });
    await this.#join();
    this.#plan();
  }

  async stop(): Promise<void> {
    if (!this.#running) return;
    this.#running = false;
    this.#unlisten();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#catchingUp.idle();
    const { store, nodeId } = this.#options;
    await store.transaction((tx) => tx.nodes.remove(nodeId)).catch(() => undefined);
  }

  /** A fact of the host: contracts, registrations. Remembered, because a view that is made anew needs it. */
  applyHost(change: HostChange): void {
    const problem = this.#held.applyHost(change);
    // INVARIANT: what was not taken is not remembered either, and the host hears of it.
    if (problem !== undefined) throw new TypeError(`${change.kind}: ${problem.message}`);
    this.#hostFacts.take(change);
  }

  /** What this node learned about an approval by spending a use of it. */
  learnApproval(id: string, row: ApprovalRow | null): void {
    this.#held.take({ kind: "approval", id, row });
  }

  /** Called whenever the view has moved. */
  onAdvance(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once the view holds this revision; rejects where the store cannot be read. */
  async atLeast(revision: number): Promise<void> {
    this.#known = Math.max(this.#known, revision);
    try {
      while (this.revision < revision) await this.catchUp();
    } catch (error) {
      this.#missing = Math.max(this.#missing, revision);
      throw error;
    }
  }

  catchUp(): Promise<void> {
    return this.#catchingUp.run();
  }

  async #move(): Promise<void> {
    if (this.#wentBack !== null) throw this.#wentBack;
    const before = this.revision;
    for (let isLast = false; !isLast;) {
      const next = await this.#options.store.read((tx) => nextChanges(tx, this.#reached));
      if (next.kind === "another_store") throw this.#back(next.what);
      if (next.kind === "gap") {
        await this.#reload();
        break;
      }
      for (const fact of next.facts) this.#held.take(fact);
      this.#reached = next.reached;
      isLast = next.isLast;
    }
    if (this.revision !== before) for (const listener of this.#listeners) listener();
  }

  /** WHY for good: only a person can tell what was lost, and a node that starts anew says that somebody looked. */
  #back(what: string): StoreUnavailableError {
    const message = `the store ${what}, as after a restore or the loss of a primary: verify the audit log, then start this node anew`;
    this.#wentBack = new StoreUnavailableError(message);
    this.#options.faulted(this.#wentBack);
    return this.#wentBack;
  }

  /** A gap in the log: everything anew, from one moment. */
  async #reload(): Promise<void> {
    const { held, end } = await this.#options.store.read(async (tx) => {
      const fresh = new HeldFacts(this.#options, []);
      await fresh.load(tx);
      return { held: fresh, end: await endOfLog(tx, this.#reached) };
    });
    // INVARIANT: what was revoked in revisions that the store lost is not allowed again by a view that is made anew.
    if ("kind" in end) throw this.#back(end.what);
    // INVARIANT: taken now and not before the read, so that what the host stated meanwhile is there too.
    for (const change of this.#hostFacts) held.applyHost(change);
    this.#held = held;
    this.#reached = end;
  }

  async #join(): Promise<void> {
    const { store, nodeId, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    await this.catchUp();
    await store.transaction(async (tx) => {
      const nowMs = await tx.nowMs();
      await tx.nodes.upsert({
        id: nodeId,
        confirmedRevision: this.#options.confirmable(this.revision),
        leaseUntilMs: nowMs + this.leaseMs,
        startedMs: nowMs,
        info: null,
      });
    });
    // INVARIANT: read before it is live: what was revoked before the row was there was acknowledged without this node.
    await this.catchUp();
    this.#leaseEndMs = store.engine === "sqlite" ? Number.POSITIVE_INFINITY : startedMs + this.leaseMs;
  }

  /**
   * Renews the lease. The lease is counted from before the store was asked, so that it always ends here before it
   * ends there.
   */
  beat(): Promise<void> {
    return this.#beating.run();
  }

  async #renew(): Promise<void> {
    const { store, nodeId, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    await this.catchUp();
    // WHY: the owner of a SQLite store makes every change itself, and knows of each when it is committed.
    if (store.engine === "sqlite") return;
    const known = await store.transaction(async (tx) => {
      const nowMs = await tx.nowMs();
      const isKnown = await tx.nodes.heartbeat(nodeId, nowMs + this.leaseMs);
      return isKnown && (await tx.nodes.confirm(nodeId, this.#options.confirmable(this.revision)));
    });
    if (!known) return this.#join();
    // INVARIANT: the same for a node whose lease had run out: only who was waited for all along may go on as it is.
    if (clock.monotonicMs() >= this.#leaseEndMs) await this.catchUp();
    this.#leaseEndMs = startedMs + this.leaseMs;
  }

  #hint(): void {
    if (this.#isHinted) return;
    this.#isHinted = true;
    setImmediate(() => {
      this.#isHinted = false;
      if (!this.#running) return;
      // WHY: whoever made the change has seen to it meanwhile, and nobody else waits to hear of it.
      if (this.#options.store.engine === "sqlite" && this.revision >= this.#known) return;
      // WHY: a beat that fails is seen by the lease running out; there is nobody to tell here.
      this.beat().catch(() => undefined);
    });
  }

  #plan(): void {
    if (!this.#running) return;
    this.#timer = setTimeout(() => {
      this.beat()
        .catch(() => undefined)
        .finally(() => this.#plan());
    }, this.#options.beatMs ?? 500);
    this.#timer.unref();
  }
}
