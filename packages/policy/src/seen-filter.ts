/**
 * Whether something was asked a short while ago. It forgets, and may take one thing for another, so it only says what is
 * worth remembering: most targets are asked once, and keeping those costs more than asking again.
 */
const SLOTS = 8192;

export class SeenFilter {
  readonly #hashes = new Int32Array(SLOTS);

  /** Says whether this hash was here, and keeps it. */
  wasSeen(hash: number): boolean {
    const slot = hash & (SLOTS - 1);
    if (this.#hashes[slot] === hash) return true;
    this.#hashes[slot] = hash;
    return false;
  }
}
