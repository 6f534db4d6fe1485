/**
 * What the nodes on one store remember together about the credentials of remote hosts: proofs that were used, and
 * credentials that were taken back. So a proof that was overheard is worth nothing on any node, and a revocation holds on
 * all of them from the moment it is acknowledged.
 * Trusts the store alone. Where the store cannot be asked nothing is admitted, and everything counts as revoked.
 */
import { createHash } from "node:crypto";
import type { AccessStore } from "@sallyport/store";
import { framed } from "./framing/field-writer.ts";
import type { NodeClock } from "./node-clock.ts";

/** How far the clocks of nodes may be apart: a proof is kept that much longer. */
const SKEW_MS = 60_000;
const SWEEP_MS = 10_000;
const NOTHING = Object.freeze({});

export interface RevocableToken {
  readonly tokenId: string;
  readonly credentialId: string;
}

export class CredentialBook {
  readonly #store: AccessStore;
  readonly #clock: NodeClock;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(store: AccessStore, clock: NodeClock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Rejects where the store cannot be asked. */
  async admit(key: string, proofId: string, untilMs: number, nowMs: number): Promise<"fresh" | "replayed"> {
    const id = spentId(key, proofId);
    const isFresh = await this.#store.transaction(async (tx) => {
      if (this.#isDue()) await tx.records.removeDue("spent_proof", nowMs);
      const dueMs = Math.ceil(untilMs) + SKEW_MS;
      return tx.records.insert({ kind: "spent_proof", id, body: NOTHING, createdMs: nowMs, dueMs });
    });
    return isFresh ? "fresh" : "replayed";
  }

  /** By the id of a credential with all its renewals, or of a single token. */
  async revoke(id: string, untilMs: number): Promise<void> {
    const createdMs = this.#clock.nowMs();
    await this.#store.transaction(async (tx) => {
      await tx.records.removeDue("revoked_credential", createdMs - SKEW_MS);
      const dueMs = Math.ceil(untilMs);
      await tx.records.insert({ kind: "revoked_credential", id, body: NOTHING, createdMs, dueMs });
    });
  }

  /** INVARIANT: `true` where it cannot be known. */
  async isRevoked({ tokenId, credentialId }: RevocableToken): Promise<boolean> {
    try {
      return await this.#store.read(async (tx) => {
        for (const id of [tokenId, credentialId])
          if ((await tx.records.get("revoked_credential", id)) !== null) return true;
        return false;
      });
    } catch {
      return true;
    }
  }

  #isDue(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#sweptMs + SWEEP_MS) return false;
    this.#sweptMs = nowMs;
    return true;
  }
}

/** INVARIANT: key and proof are framed apart, so that no two pairs have one id. */
function spentId(key: string, proofId: string): string {
  return createHash("sha256")
    .update(framed("sallyport.spent-proof.1", [key, proofId]))
    .digest("hex");
}
