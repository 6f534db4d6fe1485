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
import type { Overview } from "./overview.ts";

/** How far the clocks of nodes may be apart: a proof is kept that much longer. */
const SKEW_MS = 60_000;
const SWEEP_MS = 10_000;
const NOTHING = Object.freeze({});
const GOOD_MAX = 10_000;

export interface RevocableToken {
  readonly tokenId: string;
  readonly credentialId: string;
}

export class CredentialBook {
  readonly #store: AccessStore;
  readonly #clock: NodeClock;
  readonly #overview: Pick<Overview, "standing" | "takeBackRecords">;
  /** Token by credential: known not to be taken back as of `#standing`. */
  readonly #good = new Map<string, Set<string>>();
  #standing: number | null = null;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(
    store: AccessStore,
    clock: NodeClock,
    overview: Pick<Overview, "standing" | "takeBackRecords">,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#overview = overview;
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

  /** By the id of a credential with all its renewals, or of a single token. No node takes it once this resolves. */
  async revoke(id: string, untilMs: number): Promise<void> {
    const createdMs = this.#clock.nowMs();
    await this.#overview.takeBackRecords(async (records) => {
      await records.removeDue("revoked_credential", createdMs - SKEW_MS);
      const dueMs = Math.ceil(untilMs);
      await records.insert({ kind: "revoked_credential", id, body: NOTHING, createdMs, dueMs });
      return true;
    });
  }

  /** INVARIANT: `true` where it cannot be known. At once where memory vouches that it is not. */
  isRevoked(token: RevocableToken): boolean | Promise<boolean> {
    return this.#vouched()?.get(token.credentialId)?.has(token.tokenId) === true ? false : this.#read(token);
  }

  async #read({ tokenId, credentialId }: RevocableToken): Promise<boolean> {
    // INVARIANT: asked before the store is, so that what is taken back meanwhile is not held as good.
    const standing = this.#overview.standing();
    try {
      const isGone = await this.#store.read(async (tx) => {
        for (const id of [tokenId, credentialId])
          if ((await tx.records.get("revoked_credential", id)) !== null) return true;
        return false;
      });
      const good = this.#vouched();
      if (isGone || good === undefined || standing !== this.#standing) return isGone;
      if (good.size >= GOOD_MAX) good.clear();
      const tokens = good.get(credentialId) ?? new Set();
      good.set(credentialId, tokens.add(tokenId));
      return false;
    } catch {
      return true;
    }
  }

  /** What is held as good, where this node may go by what it holds. */
  #vouched(): Map<string, Set<string>> | undefined {
    const standing = this.#overview.standing();
    if (standing !== this.#standing) this.#good.clear();
    this.#standing = standing;
    return standing === null ? undefined : this.#good;
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
