/**
 * One after the other: work that must not overlap on this node. A turn that fails does not stop the next one.
 * INVARIANT: the wait for a turn is bounded, so that behind a store that hangs everybody is told in time, however many
 * wait. Work whose time ran out never begins.
 */
import { StoreUnavailableError } from "@sallyport/store";

const WAIT_MS = 10_000;

export class Turn {
  readonly #waitMs: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(waitMs: number = WAIT_MS) {
    this.#waitMs = waitMs;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isGivenUp = false;
      const timer = setTimeout(() => {
        isGivenUp = true;
        reject(new StoreUnavailableError(`the store was busy for ${this.#waitMs} ms: try again later`));
      }, this.#waitMs);
      const begin = async (): Promise<void> => {
        if (isGivenUp) return;
        clearTimeout(timer);
        await work().then(resolve, reject);
      };
      this.#last = this.#last.then(begin);
    });
  }
}
