/**
 * Hears of revisions that other nodes committed. NOTIFY is a hint that can be lost with its connection, so the
 * counter is read as well, at an interval and after every reconnection.
 * Must never be needed for safety: whoever must not miss a revision reads it.
 */
import pg from "pg";
import { REVISION_CHANNEL } from "../sql/revision-verbs.ts";

export interface ListenerOptions {
  readonly config: pg.ClientConfig;
  readonly pollMs: number;
  readonly readRevision: () => Promise<number>;
  readonly reach: (revision: number) => void;
}

const RECONNECT_MS_MIN = 100;
const RECONNECT_MS_MAX = 5000;

export class RevisionListener {
  readonly #options: ListenerOptions;
  #client: pg.Client | null = null;
  #reconnect: NodeJS.Timeout | null = null;
  #poll: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  #waitMs = RECONNECT_MS_MIN;
  #stopped = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#poll = setInterval(() => this.#catchUp(), this.#options.pollMs);
    this.#poll.unref();
    await this.#connect();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#poll !== null) clearInterval(this.#poll);
    if (this.#reconnect !== null) clearTimeout(this.#reconnect);
    await this.#polling;
    await this.#drop(this.#client);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(this.#options.config);
    this.#client = client;
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    client.on("notification", ({ payload }) => {
      const revision = Number(payload);
      if (Number.isSafeInteger(revision)) this.#options.reach(revision);
    });
    try {
      await client.connect();
      await client.query(`listen ${REVISION_CHANNEL}`);
      this.#waitMs = RECONNECT_MS_MIN;
      this.#catchUp();
    } catch {
      this.#lost(client);
    }
  }

  /** Once per client: an error is followed by an end. */
  #lost(client: pg.Client): void {
    if (this.#stopped || this.#client !== client) return;
    this.#client = null;
    void this.#drop(client);
    this.#reconnect = setTimeout(() => void this.#connect(), this.#waitMs);
    this.#reconnect.unref();
    this.#waitMs = Math.min(this.#waitMs * 2, RECONNECT_MS_MAX);
  }

  async #drop(client: pg.Client | null): Promise<void> {
    try {
      await client?.end();
    } catch {
      // It is gone already, which is what was wanted.
    }
  }

  #catchUp(): void {
    if (this.#polling !== null || this.#stopped) return;
    this.#polling = this.#options
      .readRevision()
      .then(this.#options.reach)
      .catch(() => {
        // The next turn tries again; callers learn of the fault from their own reads.
      })
      .finally(() => {
        this.#polling = null;
      });
  }
}
