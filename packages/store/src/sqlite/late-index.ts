/**
 * Indexes of events that are made later. Events of decisions are written without those that serve searches alone; a search
 * brings them up to date first, and so does the log itself before too many are left.
 * INVARIANT: `indexed` says nothing about an event: no hash covers it, and no other column is ever changed.
 */
import type { SqliteConnection } from "./driver.ts";

/** WHY: so many are indexed in a few milliseconds. */
const LEFT_MAX = 256;
const SETTLE = `update "event" set "indexed" = 1 where "indexed" = 0`;

export class LateIndex {
  readonly #connection: SqliteConnection;
  /** At most so many. WHY not none at first: whoever had the store before may have left some. */
  #left = 1;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  leave(count: number): void {
    this.#left += count;
    if (this.#left >= LEFT_MAX) this.settle();
  }

  /** Within a transaction that may write. */
  settle(): true {
    if (this.#left > 0) this.#connection.run(SETTLE);
    this.#left = 0;
    return true;
  }

  /**
   * Within a read, which is ended for it and begun again. Nothing changes in between but the index: the one connection is
   * whoever's has this turn. False: the store cannot be written now, and nothing was changed.
   */
  settleInRead(): boolean {
    if (this.#left === 0) return true;
    const connection = this.#connection;
    connection.exec("commit");
    try {
      connection.exec("begin immediate");
      this.settle();
      connection.exec("commit");
      return true;
    } catch {
      this.undone();
      rollBack(connection);
      return false;
    } finally {
      connection.exec("begin");
    }
  }

  /** What was settled may be so no more. */
  undone(): void {
    this.#left = Math.max(this.#left, 1);
  }
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec("rollback");
  } catch {
    // SQLite rolls back by itself after some faults.
  }
}
