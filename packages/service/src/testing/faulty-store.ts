/** A store that can be made to fail or to stop at its door. Everything else is the real one. */
import { type AccessStore, StoreUnavailableError } from "@sallyport/store";

export class FaultyStore implements AccessStore {
  readonly real: AccessStore;
  /** What it says it is: `postgres` makes its service one node among several. */
  readonly engine: AccessStore["engine"];
  /** Hears no hints. */
  deaf = false;
  failsWrites = false;
  failsReads = false;
  /** Commits, and then says that it failed: the connection ended before the answer came. */
  losesAnswers = false;
  /** Called before every transaction, outside of it. */
  beforeWrite: () => Promise<void> = () => Promise.resolve();
  #gate: Promise<void> | null = null;
  #open: () => void = () => undefined;
  #writeGate: Promise<void> | null = null;
  #openWrites: () => void = () => undefined;

  constructor(real: AccessStore, engine: AccessStore["engine"] = real.engine) {
    this.real = real;
    this.engine = engine;
  }

  /** Reads stand still until `openReads`. */
  closeReads(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  openReads(): void {
    this.#gate = null;
    this.#open();
  }

  /** Transactions stand still until `openWrites`, as on a disk that does not answer. */
  closeWrites(): void {
    this.#writeGate = new Promise((resolve) => {
      this.#openWrites = resolve;
    });
  }

  openWrites(): void {
    this.#writeGate = null;
    this.#openWrites();
  }

  transaction: AccessStore["transaction"] = async (work) => {
    if (this.failsWrites) throw fault();
    await this.#writeGate;
    await this.beforeWrite();
    const result = await this.real.transaction(work);
    if (this.losesAnswers) throw fault("unknown");
    return result;
  };

  read: AccessStore["read"] = async (work) => {
    if (this.failsReads) throw fault();
    await this.#gate;
    return this.real.read(work);
  };

  onRevision: AccessStore["onRevision"] = (listener) =>
    this.real.onRevision((revision) => {
      if (!this.deaf) listener(revision);
    });

  close(): Promise<void> {
    return this.real.close();
  }
}

function fault(applied: "no" | "unknown" = "no"): StoreUnavailableError {
  return new StoreUnavailableError("the disk is full: make room and try again", {
    applied,
    driverCode: "SQLITE_FULL",
  });
}
