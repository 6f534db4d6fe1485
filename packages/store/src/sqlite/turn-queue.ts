/**
 * One transaction at a time over the one connection, in the order of arrival, with a bounded wait.
 */
import { StoreUnavailableError } from "../errors.ts";

export class TurnQueue {
  readonly #waiting: (() => void)[] = [];
  readonly #waitMs: number;
  #taken = false;

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /** Give the turn back with `next`. Nothing to wait for where it was free. */
  take(): Promise<void> | undefined {
    if (!this.#taken) {
      this.#taken = true;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(
          new StoreUnavailableError(
            `the store was busy for ${this.#waitMs} ms: try again, and look for a transaction that does not end`,
          ),
        );
      }, this.#waitMs);
      this.#waiting.push(start);
    });
  }

  next(): void {
    const start = this.#waiting.shift();
    if (start === undefined) this.#taken = false;
    else start();
  }
}
