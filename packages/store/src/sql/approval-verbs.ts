/**
 * Approvals.
 * INVARIANT: one approval per tuple and scope (and organization, user and session where it is of a session);
 * uses are counted by one conditional update, so that no race spends more than there are.
 */
import { type SqlBool, sql } from "kysely";
import type { ApprovalScope, Match } from "@sallyport/contract";
import type { ApprovalRow, ApprovalVerbs } from "../port.ts";
import {
  jsonColumn,
  jsonOf,
  mappedBy,
  principalColumn,
  SESSION,
  sessionColumns,
  sessionConditions,
  sessionKeyColumn,
  sessionOf,
  targetHash,
  TUPLE,
  TUPLE_KEY,
  tupleColumns,
  tupleConditions,
  tupleOf,
} from "./columns.ts";
import { equal, ofSubjects } from "./conditions.ts";
import { listRows } from "./list-rows.ts";
import { prepared } from "./prepared.ts";
import type { ApprovalTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

const approvalOf = (row: ApprovalTable): ApprovalRow =>
  Object.freeze({
    id: row.id,
    ...tupleOf(row),
    match: row.match as Match,
    scope: row.scope as ApprovalScope,
    ...sessionOf(row),
    expiresAtMs: row.expires_at_ms,
    maxUses: row.max_uses,
    uses: row.uses,
    requestId: row.request_id,
    actionId: row.action_id,
    decidedBy: jsonOf(row.decided_by),
    reason: row.reason,
    createdMs: row.created_ms,
    lastUsedMs: row.last_used_ms,
  });

const toApproval = mappedBy(approvalOf);

const SESSION_SCOPE = sql<SqlBool>`"scope" = 'session'`;

const GET = prepared(["id"], (db, { id }) => db.selectFrom("approval").selectAll().where("id", "=", id));

const INSERT = prepared(
  [
    "id",
    ...TUPLE,
    "match",
    "scope",
    ...SESSION,
    "expires_at_ms",
    "max_uses",
    "request_id",
    "action_id",
    "decided_by",
    "reason",
    "created_ms",
  ],
  (db, marks, { kind }) =>
    db
      .insertInto("approval")
      .values({
        ...marks,
        uses: sql.lit(0),
        last_used_ms: sql.lit(null),
        // WHY: on SQLite they are indexed by time later, together: nobody needs it before the next list.
        ...(kind === "sqlite" ? { listed: sql.lit(0) } : {}),
      })
      .onConflict((conflict) => conflict.columns([...TUPLE_KEY, "scope", ...SESSION]).doNothing()),
);

const FIND_BY_TUPLE = prepared(TUPLE, (db, marks) =>
  db
    .selectFrom("approval")
    .selectAll()
    .where(equal<ApprovalTable>(marks))
    .orderBy("created_ms")
    .orderBy("id"),
);

const SPEND = prepared(["id", "now"], (db, { id, now }) =>
  db
    .updateTable("approval")
    .set((eb) => ({ uses: eb("uses", "+", 1), last_used_ms: now }))
    .where("id", "=", id)
    .where((eb) => eb.or([eb("max_uses", "is", null), eb("uses", "<", eb.ref("max_uses"))]))
    .where((eb) => eb.or([eb("expires_at_ms", "is", null), eb("expires_at_ms", ">", now)]))
    .returning(["max_uses", "uses"]),
);

export function approvalVerbs(scope: Scope): ApprovalVerbs {
  const rows = () => scope.build.selectFrom("approval").selectAll();
  const removal = () => scope.build.deleteFrom("approval").returningAll();
  return {
    get: async (id) => GET.first(scope, { id }, toApproval),

    findByTuple: async (tuple) =>
      FIND_BY_TUPLE.all(scope, tupleColumns(tuple), (found) => found.map(approvalOf)),

    listForSubjects: async (subjects, session) => {
      if (subjects.length === 0) return [];
      const found = await scope.all(
        rows()
          .where(ofSubjects(subjects))
          .where((eb) =>
            session === null || sessionKeyColumn(session.sessionKey) === ""
              ? eb("scope", "=", "permanent")
              : eb.or([
                  eb("scope", "=", "permanent"),
                  equal<ApprovalTable>({ scope: "session", ...sessionColumns(session) }),
                ]),
          )
          .orderBy("created_ms")
          .orderBy("id"),
      );
      return found.map(approvalOf);
    },

    list: (filter, page) => {
      const columns = equal<ApprovalTable>({
        ...tupleConditions(filter),
        ...sessionConditions(filter),
        scope: filter.scope,
        request_id: filter.requestId,
      });
      // WHY said: the index that is made later holds those alone, and is found by the same words only.
      const isListed = scope.settle("approval") ? sql`"listed" = 1` : sql`1 = 1`;
      const where = sql<SqlBool>`(${columns} and ${isListed})`;
      return listRows(scope, { table: "approval", time: "created_ms", where, toRow: approvalOf }, page);
    },

    insert: async (approval) =>
      INSERT.changed(
        scope,
        {
          // WHY field by field: an object that is spread into another one costs more than the rest of it.
          id: approval.id,
          subject_type: approval.subject.type,
          subject_name: approval.subject.name,
          resource_type: approval.resourceType,
          operation: approval.operation,
          target: approval.target,
          target_hash: targetHash(approval.target),
          match: approval.match,
          scope: approval.scope,
          organization_id: principalColumn(approval.organizationId),
          user_id: principalColumn(approval.userId),
          session_key: sessionKeyColumn(approval.sessionKey),
          expires_at_ms: approval.expiresAtMs,
          max_uses: approval.maxUses,
          request_id: approval.requestId,
          action_id: approval.actionId,
          decided_by: jsonColumn(approval.decidedBy),
          reason: approval.reason,
          created_ms: approval.createdMs,
        },
        (count) => {
          if (count === 1) scope.leave("approval", 1);
          return count === 1;
        },
      ),

    remove: async (id) => {
      const row = await scope.first(removal().where("id", "=", id));
      return row === null ? null : approvalOf(row);
    },

    removeByTuple: async (tuple) =>
      (await scope.all(removal().where(equal<ApprovalTable>(tupleColumns(tuple))))).map(approvalOf),

    removeOfSession: async (session) =>
      (
        await scope.all(
          // WHY a literal: the index of sessions is partial, and is found by the same words only.
          removal()
            .where(SESSION_SCOPE)
            .where(equal<ApprovalTable>(sessionColumns(session))),
        )
      ).map(approvalOf),

    spendUse: async (id, nowMs) =>
      SPEND.first(scope, { id, now: nowMs }, (row) =>
        row === null
          ? Object.freeze({ spent: false })
          : Object.freeze({ spent: true, remaining: row.max_uses === null ? null : row.max_uses - row.uses }),
      ),
  };
}
