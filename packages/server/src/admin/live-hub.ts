/**
 * One reader of what changes for however many followers: each is told of what has changed since it was told last, gathered
 * over a moment. Says that something changed, never what.
 */
import { LIVE_TOPICS, type LiveChange, type LiveTopic, liveChangeWire } from "@sallyport/contract/admin";
import { setImmediate as turn } from "node:timers/promises";
import type { AccessService } from "@sallyport/service";

/** WHY a moment: a burst of requests is one piece of news. */
const GATHER_MS = 50;
const RETRY_MS = 1000;
/** Followers that are told before the event loop turns. */
const AT_ONCE = 32;

interface Listener {
  readonly topics: Set<LiveTopic>;
  wake: () => void;
}

export class LiveHub {
  readonly #service: AccessService;
  readonly #closing: AbortSignal;
  readonly #listeners = new Set<Listener>();
  #isReading = false;

  constructor(service: AccessService, closing: AbortSignal) {
    this.#service = service;
    this.#closing = closing;
  }

  /** Lines of JSON, the first at once. Ends with its signal. */
  async *follow(signal: AbortSignal): AsyncGenerator<string> {
    const listener: Listener = { topics: new Set(), wake: () => undefined };
    const wake = (): void => listener.wake();
    this.#listeners.add(listener);
    signal.addEventListener("abort", wake);
    this.#read();
    try {
      yield this.#text("hello", LIVE_TOPICS);
      while (!signal.aborted) {
        if (listener.topics.size === 0) {
          await new Promise<void>((resolve) => {
            listener.wake = resolve;
            if (signal.aborted) resolve();
          });
          continue;
        }
        const what = LIVE_TOPICS.filter((topic) => listener.topics.has(topic));
        listener.topics.clear();
        yield this.#text("changed", what);
      }
    } finally {
      signal.removeEventListener("abort", wake);
      this.#listeners.delete(listener);
    }
  }

  /** WHY in parts: with many followers the server has to answer calls in between. */
  async #tell(told: ReadonlySet<LiveTopic>): Promise<void> {
    let count = 0;
    for (const listener of this.#listeners) {
      for (const topic of told) listener.topics.add(topic);
      listener.wake();
      count += 1;
      if (count % AT_ONCE === 0) await turn();
    }
  }

  #text(kind: LiveChange["kind"], what: readonly LiveTopic[]): string {
    return JSON.stringify(
      liveChangeWire.format({ kind, revision: Math.max(0, this.#service.revision), what }),
    );
  }

  /** Reads for as long as the server runs, once the first one follows. */
  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#reading();
  }

  async #reading(): Promise<void> {
    let gathered = new Set<LiveTopic>();
    let timer: NodeJS.Timeout | undefined;
    const tell = (): void => {
      timer = undefined;
      const told = gathered;
      gathered = new Set();
      void this.#tell(told);
    };
    while (!this.#closing.aborted) {
      try {
        for await (const { what } of this.#service.overview.changes(this.#closing)) {
          for (const topic of what) gathered.add(topic);
          timer ??= setTimeout(tell, GATHER_MS);
        }
        if (!this.#closing.aborted) break;
      } catch {
        // WHY: the store will be back. What was missed meanwhile is not known, so everything counts as changed.
        gathered = new Set(LIVE_TOPICS);
        timer ??= setTimeout(tell, RETRY_MS);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    clearTimeout(timer);
    this.#isReading = false;
  }
}
