/** Sessions that hold an approval or wait for a decision: gathered by the database, a page at a time. */
import { sql } from "kysely";
import type { HeldSession, HeldSessionCursor, KeyedSession, Page, PageRequest } from "../port.ts";
import { SESSION, sessionColumns, sessionOf } from "./columns.ts";
import { pageOf, paging } from "./conditions.ts";
import type { Scope } from "./scope.ts";

interface HeldTable {
  readonly organization_id: string;
  readonly user_id: string;
  readonly session_key: string;
  /** WHY either: PostgreSQL gives a sum as text. */
  readonly approvals: number | string;
  readonly pending: number | string;
  readonly seen_ms: number | string;
}

const ORDER = ["seen_ms", "session_key", "organization_id", "user_id"] as const;

export async function listHeldSessions(
  scope: Scope,
  page: PageRequest<HeldSessionCursor>,
): Promise<Page<HeldSession, HeldSessionCursor>> {
  const { after, direction, fetch } = paging(ORDER, placeOf(page.after), page);
  const order = sql.join(ORDER.map((column) => sql`${sql.ref(column)} ${sql.raw(direction)}`));
  const identity = sql.join(SESSION.map((column) => sql.ref(column)));
  // WHY: in this order SQLite finds rows of the table side by side.
  const pending = scope.kind === "sqlite" ? sql`request indexed by request_open` : sql`request`;
  const isPending =
    scope.kind === "sqlite" ? sql`in_pending = 1 and status = 'pending'` : sql`status = 'pending'`;
  const query = sql`
    select * from (
      select ${identity}, sum(is_approval) as approvals, sum(is_pending) as pending, max(at_ms) as seen_ms
      from (
        select ${identity}, 1 as is_approval, 0 as is_pending, coalesce(last_used_ms, created_ms) as at_ms
        from approval where scope = 'session'
        union all
        select ${identity}, 0 as is_approval, 1 as is_pending, last_seen_ms as at_ms
        from ${pending} where ${isPending} and session_key <> ''
      ) as held group by ${identity}
    ) as held_session where ${after} order by ${order} limit ${fetch}`;
  const { sql: text, parameters } = query.compile(scope.build);
  const found = (await scope.run(text, parameters)).rows as unknown as readonly HeldTable[];
  return pageOf(found, page.limit, { toRow: heldOf, toCursor: cursorOf });
}

function placeOf(after: HeldSessionCursor | null | undefined): readonly (string | number)[] | null {
  if (after === null || after === undefined) return null;
  const { organization_id, user_id, session_key } = sessionColumns(after);
  return [after.timeMs, session_key, organization_id, user_id];
}

const keyedOf = (row: HeldTable): KeyedSession => ({ ...sessionOf(row), sessionKey: row.session_key });

const heldOf = (row: HeldTable): HeldSession =>
  Object.freeze({
    ...keyedOf(row),
    approvals: Number(row.approvals),
    pending: Number(row.pending),
    lastSeenMs: Number(row.seen_ms),
  });

const cursorOf = (row: HeldTable): HeldSessionCursor =>
  Object.freeze({ ...keyedOf(row), timeMs: Number(row.seen_ms) });
