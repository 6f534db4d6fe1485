/**
 * The schema, once for both engines, as a list that only grows. A migration that was released is never edited.
 * Text is compared byte by byte everywhere; tables are strict; closed lists are checked by the database.
 */
import type { EngineKind } from "./engine.ts";
import { FIRST } from "./first-schema.ts";
import { addColumn, dropIndex, index, oneOf, primaryKey, table } from "./schema-statement.ts";

export interface Migration {
  readonly version: number;
  readonly statements: (kind: EngineKind) => readonly string[];
}

/** Of a chain that still has its first row. */
const noHash = (kind: EngineKind): string => {
  const zeros = "00".repeat(32);
  return kind === "sqlite" ? ` default x'${zeros}'` : ` default '\\x${zeros}'`;
};

/** What a log is searched by, and where its chains begin once old rows are gone. */
const SECOND: readonly ((kind: EngineKind) => string)[] = [
  addColumn("event", "task_id", "text?"),
  index("event_by_task", "event", ["task_id", "time_ms"], "task_id is not null"),
  index("event_by_session", "event", ["session_key", "time_ms"]),
  index("event_by_user", "event", ["user_id", "time_ms"]),
  index("event_by_code", "event", ["code", "time_ms"]),
  index("event_by_source", "event", ["decision_source", "time_ms"]),
  // WHY: a key of PostgreSQL's trees holds 2704 bytes, and a target may be longer; its hash index keeps none of it.
  (kind) =>
    kind === "sqlite"
      ? index("event_by_target", "event", ["target"], "target is not null")()
      : `create index "event_by_target" on "event" using hash ("target")`,
  addColumn("checkpoint", "begin_seq", "integer", () => " default 0"),
  addColumn("checkpoint", "begin_hash", "bytes", noHash),
];

/** What the server of persons keeps beside the policy. */
const THIRD: readonly ((kind: EngineKind) => string)[] = [
  table(
    "server_record",
    {
      kind: "text",
      id: "text",
      body: "text",
      created_ms: "integer",
      due_ms: "integer?",
      version: "integer",
    },
    [
      primaryKey("kind", "id"),
      oneOf("kind", "account", "sign_in_link", "sign_in", "delivery", "spent_proof", "revoked_credential"),
    ],
  ),
  index("server_record_due", "server_record", ["kind", "due_ms"], "due_ms is not null"),
  index("server_record_by_time", "server_record", ["kind", "created_ms", "id"]),
];

/** What requests are listed by, newest first. Events are indexed only by what they have: an act has no code. */
const FOURTH: readonly ((kind: EngineKind) => string)[] = [
  index("request_by_subject", "request", ["subject_type", "subject_name", "first_seen_ms", "id"]),
  index("request_by_user", "request", ["user_id", "first_seen_ms", "id"]),
  index("request_by_session", "request", ["session_key", "first_seen_ms", "id"]),
  dropIndex("event_by_code"),
  dropIndex("event_by_source"),
  dropIndex("event_by_session"),
  index("event_by_code", "event", ["code", "time_ms"], "code is not null"),
  index("event_by_source", "event", ["decision_source", "time_ms"], "decision_source is not null"),
  index("event_by_session", "event", ["session_key", "time_ms"], "session_key <> ''"),
];

/**
 * Events that are indexed later, on SQLite. WHY nine indexes are made anew: each holds only what is indexed by now.
 * WHY the tenth: it holds what is not, which is little.
 */
const FIFTH: readonly string[] = [
  addColumn("event", "indexed", "integer", () => " default 1")("sqlite"),
  ...Object.entries({
    event_by_time: { columns: ["time_ms", "node", "seq"], where: null },
    event_by_subject: {
      columns: ["subject_type", "subject_name", "time_ms"],
      where: "subject_name is not null",
    },
    event_by_request: { columns: ["request_id"], where: "request_id is not null" },
    event_by_task: { columns: ["task_id", "time_ms"], where: "task_id is not null" },
    event_by_session: { columns: ["session_key", "time_ms"], where: "session_key <> ''" },
    event_by_user: { columns: ["user_id", "time_ms"], where: null },
    event_by_code: { columns: ["code", "time_ms"], where: "code is not null" },
    event_by_source: { columns: ["decision_source", "time_ms"], where: "decision_source is not null" },
    event_by_target: { columns: ["target"], where: "target is not null" },
  }).flatMap(([name, { columns, where }]) => [
    dropIndex(name)(),
    index(name, "event", columns, where === null ? "indexed = 1" : `indexed = 1 and ${where}`)(),
  ]),
  index("event_not_indexed", "event", ["indexed"], "indexed = 0")(),
];

/**
 * A decision writes less, on SQLite. Its approval is indexed by time later; what is left for later is found from the end of
 * the table, for which all that was left before is indexed now; a request that is settled leaves the indexes of the pending
 * ones later; and the newest row of the log of changes is the revision.
 * WHY a number for that last one too: an older version would count on from a counter that stands still.
 */
const SIXTH: readonly string[] = [
  `update "event" set "indexed" = 1 where "indexed" = 0`,
  dropIndex("event_not_indexed")(),
  addColumn("approval", "listed", "integer", () => " default 1")("sqlite"),
  dropIndex("approval_by_time")(),
  index("approval_by_time", "approval", ["created_ms", "id"], "listed = 1")(),
  addColumn("request", "in_pending", "integer", () => " default 1")("sqlite"),
  `update "request" set "in_pending" = 0 where "status" <> 'pending'`,
  dropIndex("request_by_status")(),
  dropIndex("request_due")(),
  index("request_open", "request", ["first_seen_ms", "id"], "in_pending = 1")(),
  index("request_due", "request", ["expires_at_ms", "id"], "in_pending = 1")(),
  index("request_by_status", "request", ["status", "first_seen_ms", "id"], "in_pending = 0")(),
];

export const MIGRATIONS: readonly Migration[] = Object.freeze([
  { version: 1, statements: (kind: EngineKind) => FIRST.map((statement) => statement(kind)) },
  { version: 2, statements: (kind: EngineKind) => SECOND.map((statement) => statement(kind)) },
  { version: 3, statements: (kind: EngineKind) => THIRD.map((statement) => statement(kind)) },
  { version: 4, statements: (kind: EngineKind) => FOURTH.map((statement) => statement(kind)) },
  { version: 5, statements: (kind: EngineKind) => (kind === "sqlite" ? FIFTH : []) },
  { version: 6, statements: (kind: EngineKind) => (kind === "sqlite" ? SIXTH : []) },
]);
