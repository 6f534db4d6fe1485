/** What the server of persons keeps: accounts, links, sign-ins, deliveries. */
import type { RecordKind, RecordRow, RecordVerbs } from "../port.ts";
import { checkedLimit, jsonColumn, jsonOf, mappedBy } from "./columns.ts";
import { equal } from "./conditions.ts";
import { listRows } from "./list-rows.ts";
import { prepared } from "./prepared.ts";
import type { RecordTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

const recordOf = (row: RecordTable): RecordRow =>
  Object.freeze({
    kind: row.kind as RecordKind,
    id: row.id,
    body: jsonOf(row.body),
    createdMs: row.created_ms,
    dueMs: row.due_ms,
    version: row.version,
  });

const toRecord = mappedBy(recordOf);

/** WHY prepared: every call of a signed-in person looks one up. */
const GET = prepared(["kind", "id"], (db, { kind, id }) =>
  db.selectFrom("server_record").selectAll().where("kind", "=", kind).where("id", "=", id),
);

export function recordVerbs(scope: Scope): RecordVerbs {
  return {
    get: async (kind, id) => GET.first(scope, { kind, id }, toRecord),

    list: (kind, page) => {
      const where = equal<RecordTable>({ kind });
      return listRows(scope, { table: "server_record", time: "created_ms", where, toRow: recordOf }, page);
    },

    insert: async ({ kind, id, body, createdMs, dueMs }) =>
      (await scope.changed(
        scope.build
          .insertInto("server_record")
          .values({
            kind,
            id,
            body: jsonColumn(body),
            created_ms: createdMs,
            due_ms: dueMs,
            version: 1,
          })
          .onConflict((conflict) => conflict.columns(["kind", "id"]).doNothing()),
      )) === 1,

    replace: async ({ kind, id, body, dueMs, version }) =>
      (await scope.changed(
        scope.build
          .updateTable("server_record")
          .set({ body: jsonColumn(body), due_ms: dueMs, version: version + 1 })
          .where("kind", "=", kind)
          .where("id", "=", id)
          .where("version", "=", version),
      )) === 1,

    remove: async (kind, id) => {
      const row = await scope.first(
        scope.build.deleteFrom("server_record").where("kind", "=", kind).where("id", "=", id).returningAll(),
      );
      return row === null ? null : recordOf(row);
    },

    claimDue: async (kind, { nowMs, untilMs, limit }) => {
      const due = scope.build
        .selectFrom("server_record")
        .select("id as due_id")
        .where("kind", "=", kind)
        .where("due_ms", "<=", nowMs)
        .orderBy("due_ms")
        .orderBy("id")
        .limit(checkedLimit(limit));
      const claimed = await scope.all(
        scope.build
          // WHY: as for jobs, so that PostgreSQL locks no more rows than the limit says.
          .with("due", () => (scope.kind === "postgres" ? due.forUpdate().skipLocked() : due))
          .updateTable("server_record")
          .from("due")
          .set((eb) => ({ due_ms: untilMs, version: eb("version", "+", 1) }))
          .where("kind", "=", kind)
          .whereRef("server_record.id", "=", "due.due_id")
          .returningAll(),
      );
      return claimed.map((row) => recordOf(row)).toSorted((left, right) => left.createdMs - right.createdMs);
    },

    removeDue: (kind, nowMs) =>
      scope.changed(
        scope.build.deleteFrom("server_record").where("kind", "=", kind).where("due_ms", "<=", nowMs),
      ),
  };
}
