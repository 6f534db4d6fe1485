/**
 * Appends rows to the audit log in few statements.
 * On SQLite every parameter of a statement costs more than keeping its value, and most events of a batch say the same
 * about who asked for what kind of access and how it was decided. So a batch is written as the few different sets of such
 * facts and, for each event, which set is its own and what is new in it. The rows are the same either way.
 */
import type { EventRow } from "../port.ts";
import { principalColumn, sessionKeyColumn } from "./columns.ts";
import type { Parameter } from "./engine.ts";
import { insertRows } from "./insert-rows.ts";
import type { EventTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

const SHARED_COLUMNS = [
  "node",
  "type",
  "subject_type",
  "subject_name",
  "resource_type",
  "operation",
  "organization_id",
  "user_id",
  "session_key",
  "task_id",
  "request_id",
  "decision",
  "decision_source",
  "code",
] as const satisfies readonly (keyof EventTable)[];
const OWN_COLUMNS = [
  "seq",
  "time_ms",
  "target",
  "body",
  "prev_hash",
  "hash",
] as const satisfies readonly (keyof EventTable)[];
const EVENT_COLUMNS = [...SHARED_COLUMNS, ...OWN_COLUMNS];
const LATE_COLUMNS = [...EVENT_COLUMNS, "indexed"] as const satisfies readonly (keyof EventTable)[];
const NOT_INDEXED = 0;

const sharedOf = (event: EventRow): readonly Parameter[] => [
  event.node,
  event.type,
  event.subjectType,
  event.subjectName,
  event.resourceType,
  event.operation,
  principalColumn(event.organizationId),
  principalColumn(event.userId),
  sessionKeyColumn(event.sessionKey),
  event.taskId,
  event.requestId,
  event.decision,
  event.decisionSource,
  event.code,
];

const ownOf = (event: EventRow): readonly Parameter[] => [
  event.seq,
  event.timeMs,
  event.target,
  event.body,
  event.prevHash,
  event.hash,
];

/** WHY spelled out again: lists that are put together cost as much as the rest of it. */
const rowOf = (event: EventRow): Parameter[] => [
  event.node,
  event.type,
  event.subjectType,
  event.subjectName,
  event.resourceType,
  event.operation,
  principalColumn(event.organizationId),
  principalColumn(event.userId),
  sessionKeyColumn(event.sessionKey),
  event.taskId,
  event.requestId,
  event.decision,
  event.decisionSource,
  event.code,
  event.seq,
  event.timeMs,
  event.target,
  event.body,
  event.prevHash,
  event.hash,
];

/** INVARIANT: field by field, and an id that is a number is no id that is text. */
function isAlike(left: EventRow, right: EventRow): boolean {
  return (
    left.node === right.node &&
    left.type === right.type &&
    left.subjectType === right.subjectType &&
    left.subjectName === right.subjectName &&
    left.resourceType === right.resourceType &&
    left.operation === right.operation &&
    left.organizationId === right.organizationId &&
    left.userId === right.userId &&
    left.sessionKey === right.sessionKey &&
    left.taskId === right.taskId &&
    left.requestId === right.requestId &&
    left.decision === right.decision &&
    left.decisionSource === right.decisionSource &&
    left.code === right.code
  );
}

/** Events of one statement; only whole ones are written in this way, so that few texts have to be kept. */
export const ALIKE_CHUNK = 100;
/** How many sets of facts a statement has room for. */
const SETS = [1, 4, 16] as const;
type Sets = (typeof SETS)[number];

export async function appendEvents(scope: Scope, events: readonly EventRow[]): Promise<void> {
  let start = 0;
  while (scope.kind === "sqlite" && start + ALIKE_CHUNK <= events.length) {
    const chunk = events.slice(start, start + ALIKE_CHUNK);
    const answer = appendAlike(scope, chunk);
    if (answer instanceof Promise) await answer;
    start += ALIKE_CHUNK;
  }
  await appendEach(scope, events.slice(start));
}

/** Few, as a decision makes them; on SQLite they are indexed later. */
async function appendEach(scope: Scope, events: readonly EventRow[]): Promise<void> {
  const rows = events.map(rowOf);
  if (scope.kind === "postgres") return insertRows(scope, "event", EVENT_COLUMNS, rows);
  for (const row of rows) row.push(NOT_INDEXED);
  await insertRows(scope, "event", LATE_COLUMNS, rows);
  scope.leave("event", rows.length);
}

/** The same rows; one by one where they have little in common. */
function appendAlike(scope: Scope, events: readonly EventRow[]): unknown {
  const sets: EventRow[] = [];
  const parameters: Parameter[] = [];
  let set = -1;
  for (const event of events) {
    const last = sets[set];
    if (last === undefined || !isAlike(last, event)) set = sets.findIndex((known) => isAlike(known, event));
    if (set < 0) set = sets.push(event) - 1;
    parameters.push(set, ...ownOf(event));
  }
  const room = SETS.find((count) => sets.length <= count);
  if (room === undefined) return appendEach(scope, events);
  const nothing = SHARED_COLUMNS.map(() => null);
  const shared = Array.from({ length: room }, (_, at) => {
    const event = sets[at];
    return event === undefined ? nothing : sharedOf(event);
  });
  // INVARIANT: what is left for later stays the end of the table: these are indexed at once.
  scope.settle("event");
  return scope.run(textFor(room), [...shared.flat(), ...parameters]);
}

const texts = new Map<Sets, string>();
const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
const marks = (names: readonly string[]): string => names.map(() => "?").join(", ");

function textFor(sets: Sets): string {
  const known = texts.get(sets);
  if (known !== undefined) return known;
  const shared = Array.from({ length: sets }, (_, at) => `(${at}, ${marks(SHARED_COLUMNS)})`);
  const own = Array.from({ length: ALIKE_CHUNK }, () => `(?, ${marks(OWN_COLUMNS)})`);
  const text =
    `with "shared" ("at", ${quoted(SHARED_COLUMNS)}) as materialized (values ${shared.join(", ")}), ` +
    `"own" ("set", ${quoted(OWN_COLUMNS)}) as (values ${own.join(", ")}) ` +
    `insert into "event" (${quoted(EVENT_COLUMNS)}) select ${quoted(EVENT_COLUMNS)} ` +
    `from "own" cross join "shared" on "shared"."at" = "own"."set"`;
  texts.set(sets, text);
  return text;
}
