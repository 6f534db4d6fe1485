/** Rows one after the other, with a look at those that follow. Holds three of them at most. */
import { type Feed, puller } from "./anchor-feed.ts";
import type { EventRow } from "./event-chain.ts";

export class RowFeed {
  row: EventRow | undefined;
  next: EventRow | undefined;
  #third: EventRow | undefined;
  readonly #pull: () => Promise<EventRow | undefined>;

  private constructor(pull: () => Promise<EventRow | undefined>) {
    this.#pull = pull;
  }

  static async open(rows: Feed<EventRow>): Promise<RowFeed> {
    const feed = new RowFeed(puller(rows));
    feed.row = await feed.#pull();
    feed.next = await feed.#pull();
    return feed;
  }

  async advance(): Promise<void> {
    this.row = this.next;
    this.next = this.#third ?? (await this.#pull());
    this.#third = undefined;
  }

  /** The row behind the next one. */
  async third(): Promise<EventRow | undefined> {
    this.#third ??= await this.#pull();
    return this.#third;
  }

  /** Every row behind the current one; the feed is used up. */
  async *rest(): AsyncGenerator<EventRow> {
    for (await this.advance(); this.row !== undefined; await this.advance()) yield this.row;
  }
}
