/**
 * Requests that were settled and still stand where the pending ones are looked for by time and by when they are due. They
 * move to the index of settled ones later, together, so that a decision writes neither index.
 * INVARIANT: a pending request always stands among the pending ones; whoever reads there looks at the status as well.
 * INVARIANT: which ones have to move is known, or known not to be known, as after the end of another process: then all that
 * stand among the pending ones are looked at.
 */
import type { SqliteConnection } from "./driver.ts";

const MOVED = `set "in_pending" = 0 where "in_pending" = 1 and "status" <> 'pending'`;
export const MOVE_ALL = `update "request" indexed by "request_open" ${MOVED}`;
export const MOVE_KNOWN = `update "request" ${MOVED} and "id" in (select "value" from json_each(?))`;

interface Left {
  readonly ids: ReadonlySet<string>;
  readonly isKnown: boolean;
}

export class LateRequests {
  readonly #connection: SqliteConnection;
  readonly #ids = new Set<string>();
  #isKnown = false;
  /** What this transaction has moved, for the case that it is undone. */
  #moved: Left | null = null;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  get left(): number {
    return this.#ids.size + (this.#isKnown ? 0 : 1);
  }

  /** WHY also those of a transaction that is undone: one that is pending after all is not moved. */
  leave(id: string): void {
    this.#ids.add(id);
  }

  /** Within a transaction that may write. */
  settle(): void {
    if (this.left === 0) return;
    if (this.#isKnown) this.#connection.run(MOVE_KNOWN, [JSON.stringify([...this.#ids])]);
    else this.#connection.run(MOVE_ALL);
    const { ids = [], isKnown = true } = this.#moved ?? {};
    this.#moved = { ids: new Set([...ids, ...this.#ids]), isKnown: isKnown && this.#isKnown };
    this.#ids.clear();
    this.#isKnown = true;
  }

  committed(): void {
    this.#moved = null;
  }

  undone(): void {
    if (this.#moved === null) return;
    for (const id of this.#moved.ids) this.#ids.add(id);
    this.#isKnown = this.#moved.isKnown;
    this.#moved = null;
  }
}
