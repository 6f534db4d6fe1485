/**
 * The store over any engine: transactions, reads, revisions, the end.
 * Trusts the engine to give back store errors only. Must never commit a transaction in which a statement failed.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { StoreUnavailableError, StoreUsageError } from "../errors.ts";
import type { AccessStore, StoreReader, StoreTransaction } from "../port.ts";
import { type Engine, TransactionLost } from "./engine.ts";
import { RevisionHub } from "./revision-hub.ts";
import { Scope } from "./scope.ts";
import { storeTransaction } from "./store-transaction.ts";

const ATTEMPTS_MAX = 10;
const RETRY_MS = 5;
const RETRY_MS_MAX = 500;

export class SqlStore implements AccessStore {
  readonly engine: Engine["kind"];
  readonly #engine: Engine;
  readonly #hub: RevisionHub;
  /** WHY: with one connection a transaction inside a transaction would wait for itself for ever. */
  readonly #inside = new AsyncLocalStorage<{ open: boolean }>();
  #closing: Promise<void> | null = null;

  constructor(engine: Engine, hub: RevisionHub = new RevisionHub()) {
    this.engine = engine.kind;
    this.#engine = engine;
    this.#hub = hub;
  }

  async transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#run("write", work);
      } catch (error) {
        if (!(error instanceof TransactionLost)) throw error;
        if (attempt === ATTEMPTS_MAX) {
          throw new StoreUnavailableError(
            `the transaction lost ${ATTEMPTS_MAX} times against others: try again when the store is less busy`,
          );
        }
        // WHY: those that lost together must not meet again.
        await delay(Math.random() * Math.min(RETRY_MS * 2 ** attempt, RETRY_MS_MAX));
      }
    }
  }

  read<T>(work: (tx: StoreReader) => Promise<T>): Promise<T> {
    return this.#run("read", work);
  }

  onRevision(listener: (revision: number) => void): () => void {
    return this.#hub.listen(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#engine.close();
    return this.#closing;
  }

  async #run<T>(mode: "read" | "write", work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    if (this.#inside.getStore()?.open === true) {
      throw new StoreUsageError("a transaction is open here: use its verbs instead of starting another");
    }
    if (this.#closing !== null) throw new StoreUsageError("the store is closed: open it again");
    const begun = this.#engine.begin(mode);
    const scope = new Scope(this.#engine, begun instanceof Promise ? await begun : begun);
    const inside = { open: true };
    let result: T;
    try {
      result = await this.#inside.run(inside, () => work(storeTransaction(scope)));
    } catch (error) {
      await scope.rollback();
      throw error;
    } finally {
      inside.open = false;
    }
    const committed = scope.commit();
    if (committed instanceof Promise) await committed;
    if (scope.revision !== null) this.#hub.reach(scope.revision);
    return result;
  }
}
