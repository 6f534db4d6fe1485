/**
 * Revisions, changes and nodes.
 * INVARIANT: `next` locks the one counter row until the transaction ends, so revisions are committed in order.
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
function valueOf(row: { readonly value: number } | null): number {
  if (row !== null) return row.value;
  throw new StoreUnavailableError("the revision counter is gone: the store is damaged, restore a backup");
}

const changeOf = (row: ChangeTable): ChangeRow =>
  Object.freeze({ revision: row.revision, body: jsonOf(row.body), createdMs: row.created_ms });

const CURRENT = prepared([], (db) => db.selectFrom("counter").select("value").where("name", "=", COUNTER));

const NEXT = prepared([], (db) =>
  db
    .updateTable("counter")
    .set((eb) => ({ value: eb("value", "+", sql.lit(1)) }))
    .where("name", "=", COUNTER)
    .returning("value"),
);

const APPEND = prepared(["revision", "body", "created_ms"], (db, marks) =>
  db.insertInto("change").values({ ...marks }),
);

const CHANGES_AFTER = prepared(["revision", "limit"], (db, { revision, limit }) =>
  db.selectFrom("change").selectAll().where("revision", ">", revision).orderBy("revision").limit(limit),
);

export function revisionVerbs(scope: Scope): RevisionVerbs {
  return {
    current: async () => CURRENT.first(scope, {}, valueOf),

    changesAfter: async (revision, limit) =>
      CHANGES_AFTER.all(scope, { revision, limit: checkedLimit(limit) }, (rows) => rows.map(changeOf)),

    next: async () => {
      const taken = NEXT.first(scope, {}, valueOf);
      const revision = taken instanceof Promise ? await taken : taken;
      // WHY: the server sends it when, and only when, the transaction is committed.
      if (scope.kind === "postgres") {
        await scope.run("select pg_notify($1, $2)", [REVISION_CHANNEL, String(revision)]);
      }
      scope.revision = revision;
      return revision;
    },

    append: async (change) =>
      APPEND.changed(
        scope,
        { revision: change.revision, body: jsonColumn(change.body), created_ms: change.createdMs },
        nothing,
      ),

    trim: (revision) => scope.changed(scope.build.deleteFrom("change").where("revision", "<=", revision)),
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
