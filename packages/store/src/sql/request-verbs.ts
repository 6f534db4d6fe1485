/**
 * Requests.
 * INVARIANT: at most one pending request per tuple, organization, user and session: a partial unique index.
 */
import { type Expression, type SqlBool, sql } from "kysely";
import type { RequestFilter, RequestVerbs } from "../port.ts";
import {
  checkedLimit,
  jsonColumn,
  pairColumns,
  principalColumn,
  SESSION,
  sessionConditions,
  sessionKeyColumn,
  targetHash,
  TUPLE,
  TUPLE_KEY,
  tupleColumns,
  totalOf,
  tupleConditions,
} from "./columns.ts";
import { equal } from "./conditions.ts";
import { listRows } from "./list-rows.ts";
import { isOne, prepared } from "./prepared.ts";
import { ASKED, inOrder, requestOf, toAsked, toRequest } from "./request-rows.ts";
import type { RequestTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

const PENDING = sql.lit("pending");
const TUPLE_PAIR = ["subject_type", "subject_name", "resource_type", "operation"] as const;

const GET = prepared(["id"], (db, { id }) => db.selectFrom("request").selectAll().where("id", "=", id));

const LOCK = prepared(["id"], (db, { id }, scope) => {
  const one = db.selectFrom("request").select(ASKED).where("id", "=", id);
  return scope.kind === "postgres" ? one.forUpdate() : one;
});

const FIND_PENDING = prepared([...TUPLE, ...SESSION], (db, marks) =>
  db.selectFrom("request").select(ASKED).where("status", "=", PENDING).where(equal<RequestTable>(marks)),
);

const COUNT_PENDING = prepared(["type", "name"], (db, { type, name }) =>
  db
    .selectFrom("request")
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .where("status", "=", PENDING)
    .where("subject_type", "=", type)
    .where("subject_name", "=", name),
);

const PENDING_OF = prepared(TUPLE_PAIR, (db, marks) =>
  db.selectFrom("request").select(ASKED).where("status", "=", PENDING).where(equal<RequestTable>(marks)),
);

const PENDING_OF_TUPLE = prepared(TUPLE, (db, marks) =>
  db.selectFrom("request").select(ASKED).where("status", "=", PENDING).where(equal<RequestTable>(marks)),
);

const INSERT = prepared(
  [
    "id",
    ...TUPLE,
    "target_requested",
    ...SESSION,
    "task_id",
    "subject_chain",
    "mode",
    "destructive",
    "attested_by",
    "first_seen_ms",
    "last_seen_ms",
    "expires_at_ms",
  ],
  (db, marks) =>
    db
      .insertInto("request")
      .values({
        ...marks,
        // WHY literals: each value that is handed over costs, and these are always the same.
        status: PENDING,
        count: sql.lit(1),
        decided_by: sql.lit(null),
        decided_at_ms: sql.lit(null),
        decision_reason: sql.lit(null),
        approval_id: sql.lit(null),
      })
      .onConflict((conflict) =>
        conflict
          .columns([...TUPLE_KEY, ...SESSION])
          // WHY: a literal, because PostgreSQL finds a partial index only by a constant.
          .where("status", "=", PENDING)
          .doNothing(),
      ),
);

const TOUCH = prepared(["id", "now"], (db, { id, now }) =>
  db
    .updateTable("request")
    .set((eb) => ({
      count: eb("count", "+", 1),
      // WHY: a clock that goes back must not move the request back.
      last_seen_ms: eb.case().when("last_seen_ms", "<", now).then(now).else(eb.ref("last_seen_ms")).end(),
    }))
    .where("id", "=", id)
    .where("status", "=", PENDING)
    .returning("count"),
);

const COUNT_REPEATS = prepared(["id", "times", "last_seen"], (db, { id, times, last_seen: seen }) =>
  db
    .updateTable("request")
    .set((eb) => ({
      count: eb("count", "+", times),
      last_seen_ms: eb.case().when("last_seen_ms", "<", seen).then(seen).else(eb.ref("last_seen_ms")).end(),
    }))
    .where("id", "=", id),
);

const SETTLE = prepared(
  ["id", "from", "to", "decided_by", "decided_at_ms", "reason", "approval_id"],
  (db, { id, from, to, reason, ...marks }) =>
    db
      .updateTable("request")
      .set({ ...marks, status: to, decision_reason: reason })
      .where("id", "=", id)
      .where("status", "=", from),
);

const requestConditions = (filter: RequestFilter) =>
  equal<RequestTable>({
    ...tupleConditions(filter),
    ...sessionConditions(filter),
    task_id: filter.taskId,
    status: filter.status,
  });

/**
 * WHY said: on SQLite an index by time holds either those among the pending ones or the others, and is found by the same
 * words only. WHY not always: the requests of one subject, user or session are fewer than those of one status.
 */
function placeOf(scope: Scope, filter: RequestFilter): Expression<SqlBool> {
  const { status, subjectName, userId, sessionKey } = filter;
  const isOfOne = subjectName !== undefined || userId !== undefined || sessionKey !== undefined;
  if (scope.kind !== "sqlite" || status === undefined || isOfOne) return sql<SqlBool>`1 = 1`;
  if (status === "pending") return sql<SqlBool>`"in_pending" = 1`;
  return scope.settle("request") ? sql<SqlBool>`"in_pending" = 0` : sql<SqlBool>`1 = 1`;
}

export function requestVerbs(scope: Scope): RequestVerbs {
  const count = () => scope.build.selectFrom("request").select(({ fn }) => fn.countAll<number>().as("total"));
  return {
    get: async (id) => GET.first(scope, { id }, toRequest),

    findPending: async (identity) =>
      FIND_PENDING.first(
        scope,
        {
          subject_type: identity.subject.type,
          subject_name: identity.subject.name,
          resource_type: identity.resourceType,
          operation: identity.operation,
          target: identity.target,
          target_hash: targetHash(identity.target),
          organization_id: principalColumn(identity.organizationId),
          user_id: principalColumn(identity.userId),
          session_key: sessionKeyColumn(identity.sessionKey),
        },
        toAsked,
      ),

    list: (filter, page) => {
      const where = sql<SqlBool>`(${requestConditions(filter)} and ${placeOf(scope, filter)})`;
      return listRows(scope, { table: "request", time: "first_seen_ms", where, toRow: requestOf }, page);
    },

    count: async (filter) => {
      const query = count().where(requestConditions(filter));
      const isPending = filter.status === "pending";
      // WHY a literal: the index of what is pending alone is found by it, and counted without the rows.
      const narrowed = isPending ? query.where("status", "=", PENDING) : query.where(placeOf(scope, filter));
      const found = await scope.first(narrowed);
      return found?.total ?? 0;
    },

    countPending: async ({ type, name }) => COUNT_PENDING.first(scope, { type, name }, totalOf),

    pendingOf: async (pair) => PENDING_OF.all(scope, pairColumns(pair), inOrder),

    pendingOfTuple: async (tuple) => PENDING_OF_TUPLE.all(scope, tupleColumns(tuple), inOrder),

    due: async (nowMs, limit) => {
      // WHY: left to itself SQLite reads every pending request and sorts them.
      const by = scope.kind === "sqlite" ? sql`indexed by "request_due"` : sql``;
      const query = sql`
        select * from "request" ${by}
        where "status" = ${PENDING} and ${placeOf(scope, { status: "pending" })} and "expires_at_ms" <= ${nowMs}
        order by "expires_at_ms", "id" limit ${checkedLimit(limit)}`;
      const { sql: text, parameters } = query.compile(scope.build);
      const { rows: found } = await scope.run(text, parameters);
      return (found as unknown as readonly RequestTable[]).map(requestOf);
    },

    insert: async (request) =>
      INSERT.changed(
        scope,
        {
          id: request.id,
          subject_type: request.subject.type,
          subject_name: request.subject.name,
          resource_type: request.resourceType,
          operation: request.operation,
          target: request.target,
          target_hash: targetHash(request.target),
          target_requested: request.targetRequested,
          organization_id: principalColumn(request.organizationId),
          user_id: principalColumn(request.userId),
          session_key: sessionKeyColumn(request.sessionKey),
          task_id: request.taskId,
          subject_chain: jsonColumn(request.subjectChain),
          mode: request.mode,
          destructive: jsonColumn(request.destructive),
          attested_by: request.attestedBy,
          first_seen_ms: request.firstSeenMs,
          last_seen_ms: request.firstSeenMs,
          expires_at_ms: request.expiresAtMs,
        },
        isOne,
      ),

    touchPending: async (id, nowMs) => TOUCH.first(scope, { id, now: nowMs }, (row) => row?.count ?? null),

    countRepeats: async (id, { times, lastSeenMs }) =>
      COUNT_REPEATS.changed(scope, { id, times, last_seen: lastSeenMs }, isOne),

    lock: async (id) => LOCK.first(scope, { id }, toAsked),

    settle: async (id, settlement) =>
      SETTLE.changed(
        scope,
        {
          id,
          from: settlement.from,
          to: settlement.to,
          decided_by: settlement.decidedBy === null ? null : jsonColumn(settlement.decidedBy),
          decided_at_ms: settlement.decidedAtMs,
          reason: settlement.reason,
          approval_id: settlement.approvalId,
        },
        (changed) => {
          if (changed === 1) scope.leaveRequest(id);
          return changed === 1;
        },
      ),
  };
}
