/**
 * The audit log. Rows are inserted and deleted; of what they say nothing is ever changed.
 * INVARIANT: nothing is deleted that a signed checkpoint does not vouch for, and the head of a chain stays.
 */
import type { DecisionSource, Operation, Outcome, ResourceType, SubjectType } from "@sallyport/contract";
import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { ChainText, ChainedRow, EventFilter, EventRow, EventVerbs } from "../port.ts";
import { appendEvents } from "./append-events.ts";
import { bytesOf, checkedLimit, identityConditions, sessionConditions, sessionOf } from "./columns.ts";
import type { EngineKind } from "./engine.ts";
import { equal, pageOf, paging } from "./conditions.ts";
import { prepared } from "./prepared.ts";
import type { EventTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

const eventOf = (row: EventTable): EventRow =>
  Object.freeze({
    node: row.node,
    seq: row.seq,
    timeMs: row.time_ms,
    type: row.type,
    subjectType: row.subject_type as SubjectType | null,
    subjectName: row.subject_name,
    resourceType: row.resource_type as ResourceType | null,
    operation: row.operation as Operation | null,
    target: row.target,
    ...sessionOf(row),
    taskId: row.task_id,
    requestId: row.request_id,
    decision: row.decision as Outcome | null,
    decisionSource: row.decision_source as DecisionSource | null,
    code: row.code,
    body: row.body,
    prevHash: bytesOf(row.prev_hash),
    hash: bytesOf(row.hash),
  });

const CHAIN_COLUMNS = ["node", "seq", "time_ms", "body", "prev_hash", "hash"] as const;

const chainedOf = (row: Pick<EventTable, (typeof CHAIN_COLUMNS)[number]>): ChainedRow => ({
  node: row.node,
  seq: row.seq,
  timeMs: row.time_ms,
  body: row.body,
  prevHash: bytesOf(row.prev_hash),
  hash: bytesOf(row.hash),
});

const hexOf = (kind: EngineKind, column: "prev_hash" | "hash"): RawBuilder<string> =>
  kind === "sqlite"
    ? sql<string>`lower(hex(${sql.ref(column)}))`
    : sql<string>`encode(${sql.ref(column)}, 'hex')`;

const chainPage = prepared(["node", "from", "to", "limit"], (build, at, { kind }) =>
  build
    .selectFrom("event")
    .select((columns) => [
      "seq",
      columns.ref("time_ms").as("timeMs"),
      "body",
      hexOf(kind, "prev_hash").as("prevHash"),
      hexOf(kind, "hash").as("hash"),
    ])
    .where("node", "=", at.node)
    .where("seq", ">=", at.from)
    .where("seq", "<=", at.to)
    .orderBy("seq")
    .limit(at.limit),
);

interface CountRow {
  readonly from_ms: number;
  readonly decision: string;
  readonly count: number;
}

interface TargetCountRow {
  readonly resource_type: string;
  readonly operation: string;
  readonly target: string;
  readonly code: string;
  readonly count: number;
  readonly last_ms: number;
}

function wantedEvents(scope: Scope, filter: EventFilter): Expression<SqlBool> {
  const { kind } = scope;
  const { fromMs, toMs, node } = filter;
  const columns = equal<EventTable>({
    ...identityConditions(filter),
    ...sessionConditions(filter),
    type: filter.type,
    task_id: filter.taskId,
    request_id: filter.requestId,
    decision: filter.decision,
    decision_source: filter.decisionSource,
    code: filter.code,
  });
  // WHY said: indexes that are made later hold those alone, and are found by the same words only.
  const isIndexed = scope.settle("event") ? sql`"indexed" = 1` : sql`1 = 1`;
  // WHY hidden from SQLite: it would read and sort the whole chain of a node for one page.
  const column = kind === "sqlite" ? sql`+"node"` : sql`"node"`;
  const ofNode = node === undefined ? sql`1 = 1` : sql`${column} = ${node}`;
  // WHY said again: the index holds events with a session only, and is found by the same words only.
  const inSession = filter.sessionKey ? sql`"session_key" <> ''` : sql`1 = 1`;
  const from = fromMs === undefined ? sql`1 = 1` : sql`time_ms >= ${fromMs}`;
  const to = toMs === undefined ? sql`1 = 1` : sql`time_ms < ${toMs}`;
  return sql<SqlBool>`(${columns} and ${isIndexed} and ${inSession} and ${ofNode} and ${from} and ${to})`;
}

export function eventVerbs(scope: Scope): EventVerbs {
  const rows = () => scope.build.selectFrom("event").selectAll();
  return {
    lastOf: async (node) => {
      const row = await scope.first(rows().where("node", "=", node).orderBy("seq", "desc").limit(1));
      return row === null ? null : eventOf(row);
    },

    heads: async () => {
      // WHY: hops from node to node in the primary key instead of reading every row of the log.
      const query = sql<EventTable>`
        with recursive chain(node) as (
          select min(node) from event
          union all
          select (select min(event.node) from event where event.node > chain.node) from chain where chain.node is not null
        )
        select event.* from chain
        join event on event.node = chain.node
          and event.seq = (select max(last.seq) from event as last where last.node = chain.node)
        order by event.node`;
      const { sql: text, parameters } = query.compile(scope.build);
      const { rows: found } = await scope.run(text, parameters);
      return (found as unknown as readonly EventTable[]).map(eventOf);
    },

    range: async (node, { from, to, limit }) =>
      (
        await scope.all(
          rows()
            .where("node", "=", node)
            .where("seq", ">=", from)
            .where("seq", "<=", to)
            .orderBy("seq")
            .limit(checkedLimit(limit)),
        )
      ).map(eventOf),

    chain: async (node, { from, to, limit }): Promise<readonly ChainText[]> =>
      chainPage.all(scope, { node, from, to, limit: checkedLimit(limit) }, (found) => found),

    firstOf: async (node) => {
      const row = await scope.first(
        scope.build
          .selectFrom("event")
          .select(CHAIN_COLUMNS)
          .where("node", "=", node)
          .orderBy("seq")
          .limit(1),
      );
      return row === null ? null : chainedOf(row);
    },

    lastBefore: async (node, timeMs) => {
      // WHY: clocks go back, and a row behind a newer one must not go before it.
      const kept = await scope.first(
        scope.build
          .selectFrom("event")
          .select((build) => build.fn.min("seq").as("seq"))
          .where(wantedEvents(scope, { node, fromMs: timeMs })),
      );
      if (kept !== null && kept.seq !== null) return kept.seq - 1;
      return (await scope.first(rows().where("node", "=", node).orderBy("seq", "desc").limit(1)))?.seq ?? 0;
    },

    countByTime: async (filter, { bucketMs, limit }) => {
      const span = sql<number>`time_ms - (time_ms % ${bucketMs})`;
      // WHY by position: two marks of one value are two expressions to PostgreSQL.
      const query = sql<CountRow>`
        select ${span} as from_ms, decision, count(*) as count from event
        where decision is not null and ${wantedEvents(scope, filter)}
        group by 1, 2 order by 1, 2 limit ${checkedLimit(limit)}`;
      const { sql: text, parameters } = query.compile(scope.build);
      const { rows: found } = await scope.run(text, parameters);
      return (found as unknown as readonly CountRow[]).map((row) =>
        Object.freeze({ fromMs: row.from_ms, decision: row.decision as Outcome, count: row.count }),
      );
    },

    countByTarget: async (filter, { limit, after }) => {
      const behind =
        after === null
          ? sql`1 = 1`
          : sql`(resource_type, operation, target, code) >
              (${after.resourceType}, ${after.operation}, ${after.target}, ${after.code})`;
      const query = sql<TargetCountRow>`
        select resource_type, operation, target, code, count(*) as count, max(time_ms) as last_ms from event
        where target is not null and code is not null and resource_type is not null and operation is not null
        and ${wantedEvents(scope, filter)} and ${behind}
        group by 1, 2, 3, 4 order by 1, 2, 3, 4 limit ${checkedLimit(limit)}`;
      const { sql: text, parameters } = query.compile(scope.build);
      const { rows: found } = await scope.run(text, parameters);
      return (found as unknown as readonly TargetCountRow[]).map((row) =>
        Object.freeze({
          resourceType: row.resource_type as ResourceType,
          operation: row.operation as Operation,
          target: row.target,
          code: row.code,
          count: row.count,
          lastMs: row.last_ms,
        }),
      );
    },

    search: async (filter, page) => {
      const place = page.after ? [page.after.timeMs, page.after.node, page.after.seq] : null;
      const { after, direction, fetch } = paging(["time_ms", "node", "seq"], place, page);
      const query = rows().where(wantedEvents(scope, filter)).where(after);
      const found = await scope.all(
        query.orderBy("time_ms", direction).orderBy("node", direction).orderBy("seq", direction).limit(fetch),
      );
      return pageOf(found, page.limit, {
        toRow: eventOf,
        toCursor: (row) => Object.freeze({ timeMs: row.time_ms, node: row.node, seq: row.seq }),
      });
    },

    append: async (events) => {
      await appendEvents(scope, events);
    },

    deleteBefore: async (node, seq) => {
      const anchor = await scope.first(
        scope.build
          .selectFrom("checkpoint")
          .innerJoin("event", (join) =>
            join
              .onRef("event.node", "=", "checkpoint.node")
              .onRef("event.seq", "=", "checkpoint.seq")
              .onRef("event.hash", "=", "checkpoint.hash"),
          )
          .select("checkpoint.seq")
          .where("checkpoint.node", "=", node)
          .where("checkpoint.seq", "<=", seq)
          .orderBy("checkpoint.seq", "desc")
          .limit(1),
      );
      if (anchor === null) return 0;
      return scope.changed(
        scope.build.deleteFrom("event").where("node", "=", node).where("seq", "<", anchor.seq),
      );
    },
  };
}
