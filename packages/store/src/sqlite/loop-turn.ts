/**
 * Lets the event loop turn during long work. A call of SQLite is synchronous and the promises above it are
 * microtasks, so a read of many pages would hold timers, sockets and leases of the whole process until its end.
 */
import { performance } from "node:perf_hooks";

/** How long statements may follow each other before everything else has its turn. */
const HELD_MS_MAX = 8;

export class LoopTurn {
  #heldSinceMs: number | null = null;
  readonly #turned = (): void => {
    this.#heldSinceMs = null;
  };

  /** Asked before each statement. */
  get isDue(): boolean {
    const nowMs = performance.now();
    if (this.#heldSinceMs !== null) return nowMs - this.#heldSinceMs >= HELD_MS_MAX;
    this.#heldSinceMs = nowMs;
    setImmediate(this.#turned).unref();
    return false;
  }

  take(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}
