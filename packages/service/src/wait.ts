/**
 * Callers that wait for a decision. Woken by this node's own decisions and by every move of its view of the store;
 * what is true is always read from the store, and read again now and then in case a hint was lost.
 */
import type { AccessStore, RequestRow } from "@sallyport/store";
import type { Wait } from "./caller-context.ts";

export type Waited =
  | { readonly kind: "settled"; readonly request: RequestRow }
  | { readonly kind: "timed_out" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "unknown" };

interface Waiter {
  readonly requestId: string;
  readonly done: (waited: Waited) => void;
}

const POLL_MS = 1000;
/** The longest that a timer can count. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

export class Waiters {
  readonly #store: AccessStore;
  readonly #pollMs: number;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | null = null;
  #looking = false;
  #again = false;

  constructor(store: AccessStore, pollMs: number = POLL_MS) {
    this.#store = store;
    this.#pollMs = pollMs;
  }

  get size(): number {
    return this.#waiters.size;
  }

  wait(requestId: string, { timeoutMs, signal }: Wait): Promise<Waited> {
    if (signal?.aborted === true) return Promise.resolve({ kind: "cancelled" });
    return new Promise((resolve) => {
      const done = (waited: Waited): void => {
        this.#waiters.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        if (this.#waiters.size === 0) this.#rest();
        resolve(waited);
      };
      const waiter: Waiter = { requestId, done };
      const cancel = (): void => done({ kind: "cancelled" });
      const limitMs = Number.isFinite(timeoutMs)
        ? Math.min(Math.max(0, timeoutMs), TIMEOUT_MAX_MS)
        : TIMEOUT_MAX_MS;
      const timer = setTimeout(() => done({ kind: "timed_out" }), limitMs);
      signal?.addEventListener("abort", cancel, { once: true });
      this.#waiters.add(waiter);
      this.#timer ??= setInterval(() => this.notify(), this.#pollMs).unref();
      // WHY: the decision may have come between the registration and this line.
      this.notify();
    });
  }

  /** Something may have been decided. */
  notify(): void {
    if (this.#waiters.size === 0) return;
    this.#again = true;
    if (this.#looking) return;
    this.#looking = true;
    void this.#look().finally(() => {
      this.#looking = false;
    });
  }

  close(): void {
    for (const { done } of this.#waiters) done({ kind: "cancelled" });
  }

  async #look(): Promise<void> {
    while (this.#again && this.#waiters.size > 0) {
      this.#again = false;
      const ids = new Set(Array.from(this.#waiters, ({ requestId }) => requestId));
      try {
        const rows = await this.#store.read(async (tx) => {
          const found = new Map<string, RequestRow | null>();
          for (const id of ids) found.set(id, await tx.requests.get(id));
          return found;
        });
        for (const waiter of this.#waiters) tell(waiter, rows.get(waiter.requestId));
      } catch {
        // WHY: a store that cannot be read now is asked again; the caller's own timeout bounds the wait.
        return;
      }
    }
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

function tell(waiter: Waiter, request: RequestRow | null | undefined): void {
  if (request === undefined) return;
  if (request === null) waiter.done({ kind: "unknown" });
  else if (request.status !== "pending") waiter.done({ kind: "settled", request });
}
