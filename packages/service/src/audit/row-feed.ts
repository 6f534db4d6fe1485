/** Rows one after the other, with a look at those that follow. Holds one page and three rows at most. */
import { type Feed, puller } from "./anchor-feed.ts";
import type { EventRow } from "./event-chain.ts";

/** Rows by themselves, or whole pages of them: waiting for each row by itself costs more than looking at it. */
export type Rows = Feed<EventRow | readonly EventRow[]>;

export class RowFeed {
  row: EventRow | undefined;
  next: EventRow | undefined;
  #third: EventRow | undefined;
  #page: readonly EventRow[] = [];
  #at = 0;
  readonly #pull: () => Promise<EventRow | readonly EventRow[] | undefined>;

  private constructor(pull: () => Promise<EventRow | readonly EventRow[] | undefined>) {
    this.#pull = pull;
  }

  static async open(rows: Rows): Promise<RowFeed> {
    const feed = new RowFeed(puller(rows));
    feed.row = await feed.#following();
    feed.next = await feed.#following();
    return feed;
  }

  /** A promise only where it has to be waited for. */
  advance(): Promise<void> | undefined {
    this.row = this.next;
    if (this.#third === undefined && this.#at >= this.#page.length) return this.#advanceOver();
    this.next = this.#third ?? this.#page[this.#at++];
    this.#third = undefined;
    return undefined;
  }

  async #advanceOver(): Promise<void> {
    this.next = await this.#following();
  }

  /** The row behind the next one. */
  async third(): Promise<EventRow | undefined> {
    this.#third ??= await this.#following();
    return this.#third;
  }

  /** Every row behind the current one; the feed is used up. */
  async *rest(): AsyncGenerator<EventRow> {
    for (await this.advance(); this.row !== undefined; await this.advance()) yield this.row;
  }

  async #following(): Promise<EventRow | undefined> {
    while (this.#at >= this.#page.length) {
      const pulled = await this.#pull();
      if (pulled === undefined) return undefined;
      this.#page = "seq" in pulled ? [pulled] : pulled;
      this.#at = 0;
    }
    return this.#page[this.#at++];
  }
}
