/**
 * Repeats of one blocked check within a while: the first is written at once, the others are counted and written as
 * one row. A program that tries in a loop can neither fill the log nor slow its writer.
 */
import type { UnchainedEvent } from "./access-events.ts";
import { type Field, NestedMap } from "./nested-map.ts";

interface Entry {
  count: number;
  make: (count: number) => UnchainedEvent;
}

const ENTRIES_MAX = 10_000;

export class RepeatBook {
  readonly #entries = new NestedMap<Entry>();

  /** True: the first of its kind; the caller writes it. False: it was counted. */
  isFirst(fields: readonly Field[], make: (count: number) => UnchainedEvent): boolean {
    const entry = this.#entries.get(fields);
    if (entry === undefined) {
      if (this.#entries.size < ENTRIES_MAX) this.#entries.set(fields, { count: 0, make });
      return true;
    }
    entry.count += 1;
    entry.make = make;
    return false;
  }

  /** One event for each kind that repeated; the next of any kind is a first again. */
  sweep(): readonly UnchainedEvent[] {
    const events: UnchainedEvent[] = [];
    for (const { count, make } of this.#entries.values()) if (count > 0) events.push(make(count));
    this.#entries.clear();
    return events;
  }
}
