/**
 * Indexes that are made later. Events and approvals of decisions are written without those that serve searches and lists
 * alone; whoever searches or lists brings them up to date first, and so does the store itself before too many are left.
 * Requests that were settled: see `late-requests.ts`.
 * INVARIANT: the mark says nothing about a row: no hash covers it, and no other column is ever changed with it.
 * INVARIANT: what is left are the newest rows of the table, without one between them that is not: SQLite numbers rows
 * upward, and whoever appends rows that are indexed at once settles first. So they are found from the end, without an index
 * of their own, which would cost every decision a page.
 */
import type { LateTable } from "../sql/engine.ts";
import type { SqliteConnection } from "./driver.ts";
import { LateRequests } from "./late-requests.ts";

type Appended = Exclude<LateTable, "request">;

/** WHY: so many are indexed in a few milliseconds. */
const LEFT_MAX = 256;

const MARKS = { event: "indexed", approval: "listed" } as const satisfies Record<Appended, string>;

export const settleText = (table: Appended): string => {
  const mark = MARKS[table];
  // WHY `not indexed`: read from the end it stops at the first row that was settled; an index would be read whole.
  const last = `select rowid from "${table}" not indexed where "${mark}" = 1 order by rowid desc limit 1`;
  return `update "${table}" set "${mark}" = 1 where rowid > coalesce((${last}), 0)`;
};
const SETTLE = { event: settleText("event"), approval: settleText("approval") } as const;

export class LateIndex {
  readonly #connection: SqliteConnection;
  /** At most so many. WHY not none at first: whoever had the store before may have left some. */
  readonly #left: Record<Appended, number> = { event: 1, approval: 1 };
  readonly #requests: LateRequests;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#requests = new LateRequests(connection);
  }

  leave(table: Appended, count: number): void {
    this.#left[table] += count;
    if (this.#left[table] >= LEFT_MAX) this.settle(table);
  }

  leaveRequest(id: string): void {
    this.#requests.leave(id);
    if (this.#requests.left >= LEFT_MAX) this.#requests.settle();
  }

  /** Within a transaction that may write. */
  settle(table: LateTable): true {
    if (table === "request") {
      this.#requests.settle();
      return true;
    }
    if (this.#left[table] > 0) this.#connection.run(SETTLE[table]);
    this.#left[table] = 0;
    return true;
  }

  /**
   * Within a read, which is ended for it and begun again. Nothing changes in between but the index: the one connection is
   * whoever's has this turn. False: the store cannot be written now, and nothing was changed.
   */
  settleInRead(table: LateTable): boolean {
    if ((table === "request" ? this.#requests.left : this.#left[table]) === 0) return true;
    const connection = this.#connection;
    connection.exec("commit");
    try {
      connection.exec("begin immediate");
      this.settle(table);
      connection.exec("commit");
      this.committed();
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
    this.#left.event = Math.max(this.#left.event, 1);
    this.#left.approval = Math.max(this.#left.approval, 1);
    this.#requests.undone();
  }

  /** What was settled is so for good. */
  committed(): void {
    this.#requests.committed();
  }
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec("rollback");
  } catch {
    // SQLite rolls back by itself after some faults.
  }
}
