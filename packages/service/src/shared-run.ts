/**
 * Work that is done for everybody who asks: one run at a time; those who come while one runs share the next one, which
 * sees all that they have seen.
 */
export class SharedRun {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  run(): Promise<void> {
    if (this.#running === null) return this.#begin();
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#begin();
      });
    return this.#next;
  }

  /** Nothing runs when this resolves, unless somebody asked meanwhile. */
  async idle(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  #begin(): Promise<void> {
    this.#running = this.#work().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }
}
