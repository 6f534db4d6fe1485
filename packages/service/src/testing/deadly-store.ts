/**
 * A store that kills its process, with SIGKILL, before its n-th call: every begin, every verb, of reads as well, every
 * commit and every return from a commit is one. Counts from the moment it is armed.
 */
import type { AccessStore } from "@sallyport/store";

export class DeadlyStore implements AccessStore {
  readonly #real: AccessStore;
  #left = Number.POSITIVE_INFINITY;
  calls = 0;

  constructor(real: AccessStore) {
    this.#real = real;
  }

  /** The process dies before call `n` from now on. */
  arm(n: number): void {
    this.#left = n;
    this.calls = 0;
  }

  get engine(): AccessStore["engine"] {
    return this.#real.engine;
  }

  transaction: AccessStore["transaction"] = async (work) => {
    this.#step();
    const result = await this.#real.transaction(async (tx) => {
      const value = await work(this.#watched(tx));
      this.#step();
      return value;
    });
    this.#step();
    return result;
  };

  read: AccessStore["read"] = (work) => {
    this.#step();
    return this.#real.read((tx) => work(this.#watched(tx)));
  };

  onRevision: AccessStore["onRevision"] = (listener) => this.#real.onRevision(listener);

  close(): Promise<void> {
    return this.#real.close();
  }

  #step(): void {
    this.calls += 1;
    this.#left -= 1;
    if (this.#left === 0) process.kill(process.pid, "SIGKILL");
  }

  #watched<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (held, key) => {
        const value: unknown = Reflect.get(held, key);
        if (typeof value === "function") {
          return (...args: unknown[]): unknown => {
            this.#step();
            return Reflect.apply(value, held, args);
          };
        }
        return typeof value === "object" && value !== null ? this.#watched(value) : value;
      },
    });
  }
}
