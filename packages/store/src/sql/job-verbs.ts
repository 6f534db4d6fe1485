/**
 * The resume outbox.
 * INVARIANT: one job per continuation; a job is leased to one claimer; every verb of a lease names its owner and
 * number, so that whoever lost the lease changes nothing.
 */
import { type Expression, type SqlBool, type UpdateQueryBuilder, type UpdateResult, sql } from "kysely";
import type { Claim, JobLease, JobRow, JobState, JobVerbs } from "../port.ts";
import { checkedLimit, sessionColumns } from "./columns.ts";
import { equal } from "./conditions.ts";
import { listRows } from "./list-rows.ts";
import type { ContinuationTable, JobTable, Schema } from "./schema.ts";
import type { Scope } from "./scope.ts";

const jobOf = (row: JobTable): JobRow =>
  Object.freeze({
    id: row.id,
    continuationId: row.continuation_id,
    requestId: row.request_id,
    approvalId: row.approval_id,
    action: row.action,
    ownerModule: row.owner_module,
    state: row.state as JobState,
    attempts: row.attempts,
    leaseNumber: row.lease_number,
    leaseOwner: row.lease_owner,
    leaseUntilMs: row.lease_until_ms,
    nextAtMs: row.next_at_ms,
    lastError: row.last_error,
    idempotencyKey: row.idempotency_key,
    createdMs: row.created_ms,
    finishedMs: row.finished_ms,
  });

/** INVARIANT: a claim for no action takes none. */
function claimable({ actions, session }: Pick<Claim, "actions" | "session">): Expression<SqlBool> {
  if (actions.length === 0) return sql<SqlBool>`1 = 0`;
  const known = sql<SqlBool>`${sql.ref("action")} in (${sql.join(actions)})`;
  if (session === undefined) return known;
  const own = equal<ContinuationTable>(sessionColumns(session));
  return sql<SqlBool>`(${known} and ${sql.ref("continuation_id")} in (select ${sql.ref("id")} from ${sql.table("continuation")} where ${own}))`;
}

type JobUpdate = UpdateQueryBuilder<Schema, "job", "job", UpdateResult>;

export function jobVerbs(scope: Scope): JobVerbs {
  const rows = () => scope.build.selectFrom("job").selectAll();
  const held = async (lease: JobLease, update: (query: JobUpdate) => JobUpdate): Promise<boolean> =>
    (await scope.changed(
      update(scope.build.updateTable("job")).where(
        equal<JobTable>({
          id: lease.id,
          state: "leased",
          lease_owner: lease.owner,
          lease_number: lease.leaseNumber,
        }),
      ),
    )) === 1;

  return {
    get: async (id) => {
      const row = await scope.first(rows().where("id", "=", id));
      return row === null ? null : jobOf(row);
    },

    list: (filter, page) => {
      const where = equal<JobTable>({
        state: filter.state,
        request_id: filter.requestId,
        approval_id: filter.approvalId,
      });
      return listRows(scope, { table: "job", time: "created_ms", where, toRow: jobOf }, page);
    },

    insert: async (job) =>
      (await scope.changed(
        scope.build
          .insertInto("job")
          .values({
            id: job.id,
            continuation_id: job.continuationId,
            request_id: job.requestId,
            approval_id: job.approvalId,
            action: job.action,
            owner_module: job.ownerModule,
            state: "ready",
            attempts: 0,
            lease_number: 0,
            lease_owner: null,
            lease_until_ms: null,
            next_at_ms: job.nextAtMs,
            last_error: null,
            idempotency_key: job.idempotencyKey,
            created_ms: job.createdMs,
            finished_ms: null,
          })
          .onConflict((conflict) => conflict.column("continuation_id").doNothing()),
      )) === 1,

    claim: async ({ owner, nowMs, leaseMs, limit, actions, session }) => {
      const due = scope.build
        .selectFrom("job")
        .select("id as due_id")
        .where(claimable({ actions, session }))
        // WHY literals: the index of what is due is partial, and is found by the same words only.
        .where(sql<SqlBool>`"state" in ('ready', 'leased')`)
        .where((eb) =>
          eb.or([
            eb.and([eb("state", "=", "ready"), eb("next_at_ms", "<=", nowMs)]),
            eb.and([eb("state", "=", "leased"), eb("lease_until_ms", "<=", nowMs)]),
          ]),
        )
        .orderBy("next_at_ms")
        .orderBy("id")
        .limit(checkedLimit(limit));
      const claimed = await scope.all(
        scope.build
          // WHY: a common table with row locks is evaluated once; as a sub-select PostgreSQL may repeat it and
          // lock more rows than the limit says.
          .with("due", () => (scope.kind === "postgres" ? due.forUpdate().skipLocked() : due))
          .updateTable("job")
          .from("due")
          .set((eb) => ({
            state: "leased",
            lease_owner: owner,
            lease_until_ms: nowMs + leaseMs,
            attempts: eb("attempts", "+", 1),
            lease_number: eb("lease_number", "+", 1),
          }))
          .whereRef("job.id", "=", "due.due_id")
          .returningAll(),
      );
      return claimed
        .map(jobOf)
        .toSorted((left, right) => left.nextAtMs - right.nextAtMs || (left.id < right.id ? -1 : 1));
    },

    renew: (lease, leaseUntilMs) => held(lease, (query) => query.set({ lease_until_ms: leaseUntilMs })),

    complete: (lease, nowMs) =>
      held(lease, (query) =>
        query.set({
          state: "done",
          lease_owner: null,
          lease_until_ms: null,
          last_error: null,
          finished_ms: nowMs,
        }),
      ),

    fail: (lease, { nextAtMs, error }) =>
      held(lease, (query) =>
        query.set({
          state: "ready",
          lease_owner: null,
          lease_until_ms: null,
          next_at_ms: nextAtMs,
          last_error: error,
        }),
      ),

    release: (lease, nextAtMs) =>
      held(lease, (query) =>
        query.set((eb) => ({
          state: "ready",
          attempts: eb("attempts", "-", 1),
          lease_owner: null,
          lease_until_ms: null,
          next_at_ms: nextAtMs,
        })),
      ),

    park: (lease, { nowMs, error }) =>
      held(lease, (query) =>
        query.set({
          state: "parked",
          lease_owner: null,
          lease_until_ms: null,
          last_error: error,
          finished_ms: nowMs,
        }),
      ),

    retry: async (id, nowMs) =>
      (await scope.changed(
        scope.build
          .updateTable("job")
          .set({ state: "ready", attempts: 0, next_at_ms: nowMs, finished_ms: null })
          .where("id", "=", id)
          .where("state", "=", "parked"),
      )) === 1,
  };
}
