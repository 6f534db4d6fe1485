/**
 * When a revocation or denial may be acknowledged: every live node has confirmed its revision, or its lease has run
 * out. A node that renews without confirming is put out, and then its last lease is waited for.
 * A node confirms only what its guarded children have confirmed; a child's lease may end one lease after its node's.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { AccessStore } from "@sallyport/store";

export interface PropagationOptions {
  readonly store: AccessStore;
  readonly nodeId: string;
  readonly leaseMs: number;
  /** 10 unless said. */
  readonly pollMs?: number | undefined;
}

export async function awaitConfirmations(revision: number, options: PropagationOptions): Promise<void> {
  const { store, nodeId, leaseMs, pollMs = 10 } = options;
  // WHY: the owner of a SQLite store is the only node, and has applied the change itself.
  if (store.engine === "sqlite") return;
  const deadline = Date.now() + 3 * leaseMs;
  for (;;) {
    const behind = await store.read(async (tx) => {
      // INVARIANT: the last lease that a node gave a child ends at most one lease after its own.
      const live = await tx.nodes.listLive((await tx.nowMs()) - leaseMs);
      return live.filter((node) => node.id !== nodeId && node.confirmedRevision < revision);
    });
    if (behind.length === 0) return;
    if (Date.now() >= deadline) {
      await store.transaction(async (tx) => {
        for (const node of behind) await tx.nodes.remove(node.id);
      });
      // INVARIANT: a node that was put out is live by its own clock for one lease at most, its children for two.
      await delay(2 * leaseMs);
      return;
    }
    await delay(pollMs);
  }
}
