/**
 * Tells listeners that the store moved on. Rising only; a listener that throws harms neither the others nor the
 * transaction that was committed.
 */
export class RevisionHub {
  readonly #listeners = new Set<(revision: number) => void>();
  #last = 0;

  listen(listener: (revision: number) => void): () => void {
    // WHY: a wrapper, so that one function may listen twice and stop once.
    const own = (revision: number) => listener(revision);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Where the store is when it is opened: nothing to tell. */
  startAt(revision: number): void {
    this.#last = Math.max(this.#last, revision);
  }

  reach(revision: number): void {
    if (revision <= this.#last) return;
    this.#last = revision;
    for (const listener of this.#listeners) {
      queueMicrotask(() => {
        try {
          if (this.#listeners.has(listener)) listener(revision);
        } catch (error) {
          process.emitWarning(`a listener of revisions failed: ${String(error)}`, "SallyportStoreWarning");
        }
      });
    }
  }
}
