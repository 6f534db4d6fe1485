/**
 * Denials, rules, ended sessions and settings: small tables that every snapshot is made from.
 * INVARIANT: one denial per tuple; a session ends once.
 */
import type { Match, Operation, ResourceType, RuleEffect, RuleSource } from "@sallyport/contract";
import type {
  DenialRow,
  DenialVerbs,
  RuleRow,
  RuleVerbs,
  SessionVerbs,
  SettingRow,
  SettingVerbs,
} from "../port.ts";
import { StoreUsageError } from "../errors.ts";
import {
  jsonColumn,
  jsonOf,
  SESSION,
  sessionColumns,
  sessionOf,
  subjectOf,
  TUPLE,
  TUPLE_KEY,
  tupleColumns,
  tupleConditions,
  tupleOf,
} from "./columns.ts";
import { equal, ofSubjects } from "./conditions.ts";
import { listHeldSessions } from "./held-sessions.ts";
import { listRows } from "./list-rows.ts";
import { prepared } from "./prepared.ts";
import type { DenialTable, RuleTable, SettingTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

const denialOf = (row: DenialTable): DenialRow =>
  Object.freeze({
    id: row.id,
    ...tupleOf(row),
    match: row.match as Match,
    requestId: row.request_id,
    actionId: row.action_id,
    decidedBy: jsonOf(row.decided_by),
    reason: row.reason,
    createdMs: row.created_ms,
  });

const one = (row: DenialTable | null): DenialRow | null => (row === null ? null : denialOf(row));

const REMOVE_DENIAL_BY_TUPLE = prepared(TUPLE, (db, marks) =>
  db.deleteFrom("denial").returningAll().where(equal<DenialTable>(marks)),
);

export function denialVerbs(scope: Scope): DenialVerbs {
  const rows = () => scope.build.selectFrom("denial").selectAll();
  const removal = () => scope.build.deleteFrom("denial").returningAll();
  return {
    get: async (id) => one(await scope.first(rows().where("id", "=", id))),

    findByTuple: async (tuple) =>
      one(await scope.first(rows().where(equal<DenialTable>(tupleColumns(tuple))))),

    listForSubjects: async (subjects) => {
      if (subjects.length === 0) return [];
      const found = await scope.all(rows().where(ofSubjects(subjects)).orderBy("created_ms").orderBy("id"));
      return found.map(denialOf);
    },

    list: (filter, page) => {
      const where = equal<DenialTable>(tupleConditions(filter));
      return listRows(scope, { table: "denial", time: "created_ms", where, toRow: denialOf }, page);
    },

    insert: async (denial) =>
      (await scope.changed(
        scope.build
          .insertInto("denial")
          .values({
            id: denial.id,
            ...tupleColumns(denial),
            match: denial.match,
            request_id: denial.requestId,
            action_id: denial.actionId,
            decided_by: jsonColumn(denial.decidedBy),
            reason: denial.reason,
            created_ms: denial.createdMs,
          })
          .onConflict((conflict) => conflict.columns([...TUPLE_KEY]).doNothing()),
      )) === 1,

    remove: async (id) => one(await scope.first(removal().where("id", "=", id))),

    removeByTuple: async (tuple) => REMOVE_DENIAL_BY_TUPLE.first(scope, tupleColumns(tuple), one),
  };
}

const ruleOf = (row: RuleTable): RuleRow =>
  Object.freeze({
    id: row.id,
    effect: row.effect as RuleEffect,
    source: row.source as RuleSource,
    ...sessionOf(row),
    subject:
      row.subject_type === null || row.subject_name === null
        ? null
        : subjectOf(row.subject_type, row.subject_name),
    resourceType: row.resource_type as ResourceType,
    operation: row.operation as Operation,
    target: row.target,
    match: row.match as Match | null,
    createdBy: jsonOf(row.created_by),
    createdMs: row.created_ms,
  });

export function ruleVerbs(scope: Scope): RuleVerbs {
  const rows = () => scope.build.selectFrom("rule").selectAll();
  return {
    get: async (id) => {
      const row = await scope.first(rows().where("id", "=", id));
      return row === null ? null : ruleOf(row);
    },

    list: async () => (await scope.all(rows().orderBy("created_ms").orderBy("id"))).map(ruleOf),

    insert: async (rule) => {
      await scope.changed(
        scope.build.insertInto("rule").values({
          id: rule.id,
          effect: rule.effect,
          source: rule.source,
          ...sessionColumns(rule),
          subject_type: rule.subject?.type ?? null,
          subject_name: rule.subject?.name ?? null,
          resource_type: rule.resourceType,
          operation: rule.operation,
          target: rule.target,
          match: rule.match,
          created_by: jsonColumn(rule.createdBy),
          created_ms: rule.createdMs,
        }),
      );
    },

    remove: async (id) => {
      const row = await scope.first(scope.build.deleteFrom("rule").where("id", "=", id).returningAll());
      return row === null ? null : ruleOf(row);
    },
  };
}

const IS_ENDED = prepared(SESSION, (db, marks) =>
  db.selectFrom("ended_session").select("ended_ms").where(equal<RuleTable>(marks)),
);

export function sessionVerbs(scope: Scope): SessionVerbs {
  return {
    isEnded: async (session) => IS_ENDED.first(scope, sessionColumns(session), (row) => row !== null),

    listHeld: (page) => listHeldSessions(scope, page),

    end: async (session, nowMs) => {
      if (session.sessionKey === "") {
        throw new StoreUsageError("a session without a key cannot end: name its session key");
      }
      const inserted = await scope.changed(
        scope.build
          .insertInto("ended_session")
          .values({ ...sessionColumns(session), ended_ms: nowMs })
          .onConflict((conflict) =>
            conflict.columns(["organization_id", "user_id", "session_key"]).doNothing(),
          ),
      );
      return inserted === 1;
    },
  };
}

const settingOf = (row: SettingTable): SettingRow =>
  Object.freeze({ key: row.key, value: jsonOf(row.value), changedMs: row.changed_ms });

export function settingVerbs(scope: Scope): SettingVerbs {
  const rows = () => scope.build.selectFrom("setting").selectAll();
  return {
    get: async (key) => {
      const row = await scope.first(rows().where("key", "=", key));
      return row === null ? null : settingOf(row);
    },

    list: async () => (await scope.all(rows().orderBy("key"))).map(settingOf),

    set: async (key, value, nowMs) => {
      const columns = { value: jsonColumn(value), changed_ms: nowMs };
      await scope.changed(
        scope.build
          .insertInto("setting")
          .values({ key, ...columns })
          .onConflict((conflict) => conflict.column("key").doUpdateSet(columns)),
      );
    },

    setIfAbsent: async (key, value, nowMs) =>
      (await scope.changed(
        scope.build
          .insertInto("setting")
          .values({ key, value: jsonColumn(value), changed_ms: nowMs })
          .onConflict((conflict) => conflict.column("key").doNothing()),
      )) === 1,

    remove: async (key) =>
      (await scope.changed(scope.build.deleteFrom("setting").where("key", "=", key))) === 1,
  };
}
