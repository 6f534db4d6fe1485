/** A store that counts what it is asked to write. Everything else is the real one. */
import type { AccessStore } from "@sallyport/store";

export class CountingStore implements AccessStore {
  readonly real: AccessStore;
  writes = 0;

  constructor(real: AccessStore) {
    this.real = real;
  }

  get engine(): AccessStore["engine"] {
    return this.real.engine;
  }

  transaction: AccessStore["transaction"] = (work) => {
    this.writes += 1;
    return this.real.transaction(work);
  };

  read: AccessStore["read"] = (work) => this.real.read(work);

  onRevision: AccessStore["onRevision"] = (listener) => this.real.onRevision(listener);

  close(): Promise<void> {
    return this.real.close();
  }
}
