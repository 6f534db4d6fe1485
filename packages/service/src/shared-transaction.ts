/**
 * One transaction for everybody who comes while another is being written: a commit is what costs, and each has an answer
 * of its own. Whoever comes alone does not wait.
 * INVARIANT: work that fails never fails others: what was undone with it is done again, each by itself, unless the store
 * cannot answer, where it may not be known whether anything was written.
 */
import { StoreUnavailableError, type StoreTransaction } from "@sallyport/store";
import type { RecordEvent } from "./audit-log.ts";

type Work<T> = (tx: StoreTransaction, record: RecordEvent) => Promise<T>;

interface Waiting {
  readonly work: Work<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** WHY bounded: whoever is in the middle waits for all. */
const TOGETHER_MAX = 64;

export class SharedTransaction {
  readonly #transaction: <T>(work: Work<T>) => Promise<T>;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(transaction: <T>(work: Work<T>) => Promise<T>) {
    this.#transaction = transaction;
  }

  run<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let group = this.#next(); group.length > 0; group = this.#next()) await this.#together(group);
    this.#isRunning = false;
  }

  #next(): readonly Waiting[] {
    const group = this.#waiting.slice(0, TOGETHER_MAX);
    this.#waiting = this.#waiting.slice(TOGETHER_MAX);
    return group;
  }

  async #together(group: readonly Waiting[]): Promise<void> {
    try {
      const values = await this.#transaction(async (tx, record) => {
        const made: unknown[] = [];
        for (const { work } of group) made.push(await work(tx, record));
        return made;
      });
      for (const [index, { resolve }] of group.entries()) resolve(values[index] as never);
    } catch (error) {
      if (group.length > 1 && !(error instanceof StoreUnavailableError))
        for (const one of group) await this.#together([one]);
      else for (const { reject } of group) reject(error);
    }
  }
}
