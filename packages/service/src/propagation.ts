/**
 * When a revocation or denial may be acknowledged: every live node has confirmed its revision, or its lease has run
 * out. A node that renews without confirming is put out, and then its last lease is waited for.
 * A node confirms only what its guarded children have confirmed; a child's lease may end one lease after its node's.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { AccessStore, NodeRow } from "@sallyport/store";

export interface ConfirmationOptions {
  readonly store: AccessStore;
  readonly nodeId: string;
  readonly leaseMs: number;
  /** 10 unless said. */
  readonly pollMs?: number | undefined;
}

interface Waiting {
  readonly revision: number;
  readonly deadlineMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** One look at the store serves everybody on this node who waits. */
export class Confirmations {
  readonly #options: ConfirmationOptions;
  readonly #waiting = new Set<Waiting>();
  #isLooking = false;

  constructor(options: ConfirmationOptions) {
    this.#options = options;
  }

  /** Resolves when nobody relies on anything older; rejects where the store cannot tell. */
  atLeast(revision: number): Promise<void> {
    const { store, leaseMs } = this.#options;
    // WHY: the owner of a SQLite store is the only node, and has applied the change itself.
    if (store.engine === "sqlite") return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.add({ revision, deadlineMs: Date.now() + 3 * leaseMs, resolve, reject });
      if (!this.#isLooking) void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.size > 0) {
      // INVARIANT: only who waited before the store was read is answered by what was read; a node may have joined since.
      const asking = [...this.#waiting];
      try {
        const others = await this.#others();
        for (const one of asking) this.#answer(one, others);
      } catch (error) {
        for (const one of asking) this.#end(one, () => one.reject(error));
      }
      if (this.#waiting.size > 0) await delay(this.#options.pollMs ?? 10);
    }
    this.#isLooking = false;
  }

  #others(): Promise<readonly NodeRow[]> {
    const { store, nodeId, leaseMs } = this.#options;
    return store.read(async (tx) => {
      // INVARIANT: the last lease that a node gave a child ends at most one lease after its own.
      const live = await tx.nodes.listLive((await tx.nowMs()) - leaseMs);
      return live.filter(({ id }) => id !== nodeId);
    });
  }

  #answer(one: Waiting, others: readonly NodeRow[]): void {
    const behind = others.filter((node) => node.confirmedRevision < one.revision);
    if (behind.length === 0) this.#end(one, one.resolve);
    else if (Date.now() >= one.deadlineMs)
      this.#end(one, () => void this.#putOut(behind).then(one.resolve, one.reject));
  }

  #end(one: Waiting, tell: () => void): void {
    this.#waiting.delete(one);
    tell();
  }

  async #putOut(nodes: readonly NodeRow[]): Promise<void> {
    const { store, leaseMs } = this.#options;
    await store.transaction(async (tx) => {
      for (const { id } of nodes) await tx.nodes.remove(id);
    });
    // INVARIANT: a node that was put out is live by its own clock for one lease at most, its children for two.
    await delay(2 * leaseMs);
  }
}
