/**
 * Credentials that were taken back. An entry is kept until the credential, with all it could be renewed into, is over.
 */

export interface Revocable {
  /** Of this token. */
  readonly tokenId: string;
  /** Of the credential that it was renewed from, at the first. */
  readonly credentialId: string;
  readonly issuedAtMs: number;
}

/** A list that several nodes share implements the same. Must not throw; where it cannot know it says `true`. */
export interface RevocationList {
  revoke(id: string, untilMs: number): void | Promise<void>;
  isRevoked(token: Revocable): boolean | Promise<boolean>;
}

/**
 * INVARIANT: a list that begins empty knows nothing of what was revoked before, so that everything issued before it
 * began counts as revoked. After a restart remote hosts ask for a new credential.
 */
export class MemoryRevocationList implements RevocationList {
  readonly #revoked = new Map<string, number>();
  readonly #sinceMs: number;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  revoke(id: string, untilMs: number): void {
    const now = this.#nowMs();
    for (const [held, until] of this.#revoked) if (until < now) this.#revoked.delete(held);
    this.#revoked.set(id, Math.max(untilMs, this.#revoked.get(id) ?? 0));
  }

  isRevoked({ tokenId, credentialId, issuedAtMs }: Revocable): boolean {
    if (issuedAtMs < this.#sinceMs) return true;
    return this.#revoked.has(tokenId) || this.#revoked.has(credentialId);
  }
}
