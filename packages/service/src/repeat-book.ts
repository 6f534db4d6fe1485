/**
 * Repeats of one blocked check within a while: the first is written at once, the others are counted and written as
 * one row. A program that tries in a loop can neither fill the log nor slow its writer.
 * INVARIANT: fields are compared one by one; nothing joins them into one key.
 */
import type { UnchainedEvent } from "./access-events.ts";

type Key = string | number | null;

interface Entry {
  count: number;
  make: (count: number) => UnchainedEvent;
}

interface Level {
  readonly below: Map<Key, Level>;
  entry: Entry | null;
}

const ENTRIES_MAX = 10_000;

const newLevel = (): Level => ({ below: new Map(), entry: null });

export class RepeatBook {
  #root = newLevel();
  #entries = 0;

  /** True: the first of its kind; the caller writes it. False: it was counted. */
  isFirst(fields: readonly Key[], make: (count: number) => UnchainedEvent): boolean {
    let level = this.#root;
    for (const field of fields) {
      let next = level.below.get(field);
      if (next === undefined) {
        next = newLevel();
        level.below.set(field, next);
      }
      level = next;
    }
    if (level.entry === null) {
      if (this.#entries >= ENTRIES_MAX) return true;
      this.#entries += 1;
      level.entry = { count: 0, make };
      return true;
    }
    level.entry.count += 1;
    level.entry.make = make;
    return false;
  }

  /** One event for each kind that repeated; the next of any kind is a first again. */
  sweep(): readonly UnchainedEvent[] {
    const events: UnchainedEvent[] = [];
    const visit = ({ below, entry }: Level): void => {
      if (entry !== null && entry.count > 0) events.push(entry.make(entry.count));
      for (const level of below.values()) visit(level);
    };
    visit(this.#root);
    this.#root = newLevel();
    this.#entries = 0;
    return events;
  }
}
