/**
 * Continuations: what goes on after a request was decided. Their contexts are sealed; the store only keeps bytes.
 */
import type { ContinuationRow, ContinuationState, ContinuationVerbs } from "../port.ts";
import { SESSION, bytesOf, mapped, sessionColumns, sessionOf, totalOf } from "./columns.ts";
import { nothing, prepared } from "./prepared.ts";
import type { ContinuationTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

const continuationOf = (row: ContinuationTable): ContinuationRow =>
  Object.freeze({
    id: row.id,
    requestId: row.request_id,
    action: row.action,
    sealedContext: row.sealed_context === null ? null : bytesOf(row.sealed_context),
    keyId: row.key_id,
    ...sessionOf(row),
    taskId: row.task_id,
    state: row.state as ContinuationState,
    createdMs: row.created_ms,
  });

const INSERT = prepared(
  ["id", "request_id", "action", "sealed_context", "key_id", ...SESSION, "task_id", "created_ms"],
  (db, marks) => db.insertInto("continuation").values({ ...marks, state: "waiting" }),
);

const COUNT = prepared(["request_id"], (db, { request_id: requestId }) =>
  db
    .selectFrom("continuation")
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .where("request_id", "=", requestId),
);

const LIST_OF = prepared(["request_id"], (db, { request_id: requestId }) =>
  db
    .selectFrom("continuation")
    .selectAll()
    .where("request_id", "=", requestId)
    .orderBy("created_ms")
    .orderBy("id"),
);

export function continuationVerbs(scope: Scope): ContinuationVerbs {
  const rows = () => scope.build.selectFrom("continuation").selectAll();
  return {
    get: async (id) => mapped(await scope.first(rows().where("id", "=", id)), continuationOf),

    listOf: async (requestId, state) => {
      const isWanted = (row: ContinuationTable) => state === undefined || row.state === state;
      return LIST_OF.all(scope, { request_id: requestId }, (found) =>
        found.filter(isWanted).map(continuationOf),
      );
    },

    countOf: async (requestId) => COUNT.first(scope, { request_id: requestId }, totalOf),

    insert: async (continuation) =>
      INSERT.changed(
        scope,
        {
          id: continuation.id,
          request_id: continuation.requestId,
          action: continuation.action,
          sealed_context: continuation.sealedContext,
          key_id: continuation.keyId,
          ...sessionColumns(continuation),
          task_id: continuation.taskId,
          created_ms: continuation.createdMs,
        },
        nothing,
      ),

    setState: async (id, from, to) =>
      (await scope.changed(
        scope.build
          .updateTable("continuation")
          .set({ state: to })
          .where("id", "=", id)
          .where("state", "=", from),
      )) === 1,
  };
}
