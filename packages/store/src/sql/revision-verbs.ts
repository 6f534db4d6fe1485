/**
 * Revisions, changes and nodes.
 * INVARIANT: revisions are committed in order. On PostgreSQL `append` counts in the one counter row, which stays locked until
 * the transaction ends. SQLite has one transaction at a time: there the newest row of the log is the count, and the counter
 * holds what was trimmed, so that no revision is ever given twice.
 */
import { sql } from "kysely";
import { StoreUnavailableError } from "../errors.ts";
import type { ChangeRow, NodeRow, NodeVerbs, RevisionVerbs } from "../port.ts";
import { checkedLimit, jsonColumn, jsonOf } from "./columns.ts";
import { nothing, prepared } from "./prepared.ts";
import type { ChangeTable, NodeTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

export const REVISION_CHANNEL = "sallyport_revision";

const COUNTER = sql.lit("revision");

interface Counted {
  readonly value: number;
}

function valueOf(row: Counted | null): number {
  if (row !== null) return row.value;
  throw new StoreUnavailableError("the revision counter is gone: the store is damaged, restore a backup");
}

const changeOf = (row: ChangeTable): ChangeRow =>
  Object.freeze({ revision: row.revision, body: jsonOf(row.body), createdMs: row.created_ms });

/** WHY the newest row is looked for in the log itself: it is the last one of the table, and costs no page of its own. */
const NEWEST = sql`max("value", coalesce((select max("revision") from "change"), 0))`;

const CURRENT = prepared([], (db, _marks, { kind }) => ({
  compile: () =>
    (kind === "sqlite"
      ? sql<Counted>`select ${NEWEST} as "value" from "counter" where "name" = ${COUNTER}`
      : sql<Counted>`select "value" from "counter" where "name" = ${COUNTER}`
    ).compile(db),
}));

/** WHY from the counter on SQLite too: where its row is gone nothing is appended, and that is told. */
const APPEND = prepared(["body", "created_ms"], (db, { body, created_ms: createdMs }, { kind }) => ({
  compile: () =>
    (kind === "sqlite"
      ? sql<Counted>`
          insert into "change" ("revision", "body", "created_ms")
          select ${NEWEST} + 1, ${body}, ${createdMs} from "counter" where "name" = ${COUNTER}
          returning "revision" as "value"`
      : // WHY told here: the server sends it when, and only when, the transaction is committed.
        sql<Counted>`
          with "taken" as (
            update "counter" set "value" = "value" + 1 where "name" = ${COUNTER} returning "value"
          ), "logged" as (
            insert into "change" ("revision", "body", "created_ms")
            select "value", ${body}::text, ${createdMs}::bigint from "taken"
          )
          select "value", pg_notify(${sql.lit(REVISION_CHANNEL)}, "value"::text) from "taken"`
    ).compile(db),
}));

const KEEP_COUNT = prepared([], (db) => ({
  compile: () => sql`update "counter" set "value" = ${NEWEST} where "name" = ${COUNTER}`.compile(db),
}));

const CHANGES_AFTER = prepared(["revision", "limit"], (db, { revision, limit }) =>
  db.selectFrom("change").selectAll().where("revision", ">", revision).orderBy("revision").limit(limit),
);

export function revisionVerbs(scope: Scope): RevisionVerbs {
  return {
    current: async () => CURRENT.first(scope, {}, valueOf),

    changesAfter: async (revision, limit) =>
      CHANGES_AFTER.all(scope, { revision, limit: checkedLimit(limit) }, (rows) => rows.map(changeOf)),

    append: async ({ body, createdMs }) =>
      APPEND.first(scope, { body: jsonColumn(body), created_ms: createdMs }, (row) => {
        scope.revision = valueOf(row);
        return scope.revision;
      }),

    trim: async (revision) => {
      // INVARIANT: the count outlives the rows that it is read from.
      if (scope.kind === "sqlite") await KEEP_COUNT.changed(scope, {}, nothing);
      return scope.changed(scope.build.deleteFrom("change").where("revision", "<=", revision));
    },
  };
}

const nodeOf = (row: NodeTable): NodeRow =>
  Object.freeze({
    id: row.id,
    confirmedRevision: row.confirmed_revision,
    leaseUntilMs: row.lease_until_ms,
    startedMs: row.started_ms,
    info: jsonOf(row.info),
  });

export function nodeVerbs(scope: Scope): NodeVerbs {
  const rows = () => scope.build.selectFrom("node").selectAll();
  return {
    get: async (id) => {
      const row = await scope.first(rows().where("id", "=", id));
      return row === null ? null : nodeOf(row);
    },

    list: async () => (await scope.all(rows().orderBy("id"))).map(nodeOf),

    listLive: async (nowMs) =>
      (await scope.all(rows().where("lease_until_ms", ">", nowMs).orderBy("id"))).map(nodeOf),

    upsert: async (node) => {
      const columns = {
        confirmed_revision: node.confirmedRevision,
        lease_until_ms: node.leaseUntilMs,
        started_ms: node.startedMs,
        info: jsonColumn(node.info),
      };
      await scope.changed(
        scope.build
          .insertInto("node")
          .values({ id: node.id, ...columns })
          .onConflict((conflict) => conflict.column("id").doUpdateSet(columns)),
      );
    },

    heartbeat: async (id, leaseUntilMs) =>
      (await scope.changed(
        scope.build.updateTable("node").set({ lease_until_ms: leaseUntilMs }).where("id", "=", id),
      )) === 1,

    confirm: async (id, revision) =>
      (await scope.changed(
        scope.build
          .updateTable("node")
          .set((eb) => ({
            confirmed_revision: eb
              .case()
              .when("confirmed_revision", "<", revision)
              .then(revision)
              .else(eb.ref("confirmed_revision"))
              .end(),
          }))
          .where("id", "=", id),
      )) === 1,

    remove: async (id) => (await scope.changed(scope.build.deleteFrom("node").where("id", "=", id))) === 1,
  };
}

/** The clock that all nodes share. */
export async function storeNowMs(scope: Scope): Promise<number> {
  if (scope.kind === "sqlite") return Date.now();
  const query = sql<{
    now: number;
  }>`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now`;
  const { sql: text, parameters } = query.compile(scope.build);
  const { rows } = await scope.run(text, parameters);
  return (rows[0] as unknown as { readonly now: number }).now;
}
