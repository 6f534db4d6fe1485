/**
 * The schema, once for both engines, as a list that only grows. A migration that was released is never edited.
 * Text is compared byte by byte everywhere; tables are strict; closed lists are checked by the database.
 */
import type { EngineKind } from "./engine.ts";
import {
  type Columns,
  addColumn,
  dropIndex,
  index,
  oneOf,
  primaryKey,
  refers,
  table,
  uniqueIndex,
} from "./schema-statement.ts";

export interface Migration {
  readonly version: number;
  readonly statements: (kind: EngineKind) => readonly string[];
}

const TUPLE = {
  subject_type: "text",
  subject_name: "text",
  resource_type: "text",
  operation: "text",
  target: "text",
  target_hash: "bytes",
} as const satisfies Columns;
const TUPLE_KEY = ["subject_type", "subject_name", "resource_type", "operation", "target_hash"] as const;
const SESSION = { organization_id: "text", user_id: "text", session_key: "text" } as const satisfies Columns;
const SESSION_KEY = ["organization_id", "user_id", "session_key"] as const;
const DECIDED = {
  action_id: "text",
  decided_by: "text",
  reason: "text?",
  created_ms: "integer",
} as const satisfies Columns;

const FIRST: readonly ((kind: EngineKind) => string)[] = [
  table(
    "request",
    {
      id: "text",
      ...TUPLE,
      target_requested: "text",
      ...SESSION,
      task_id: "text?",
      subject_chain: "text",
      mode: "text",
      destructive: "text",
      attested_by: "text",
      status: "text",
      count: "integer",
      first_seen_ms: "integer",
      last_seen_ms: "integer",
      expires_at_ms: "integer",
      decided_by: "text?",
      decided_at_ms: "integer?",
      decision_reason: "text?",
      approval_id: "text?",
    },
    [
      primaryKey("id"),
      oneOf("status", "pending", "approved_session", "approved_permanent", "denied", "expired", "cancelled"),
    ],
  ),
  uniqueIndex("request_pending", "request", [...TUPLE_KEY, ...SESSION_KEY], "status = 'pending'"),
  index("request_by_status", "request", ["status", "first_seen_ms", "id"]),
  index("request_by_time", "request", ["first_seen_ms", "id"]),
  index("request_due", "request", ["expires_at_ms", "id"], "status = 'pending'"),
  table(
    "continuation",
    {
      id: "text",
      request_id: "text",
      action: "text?",
      sealed_context: "bytes?",
      key_id: "text?",
      ...SESSION,
      task_id: "text?",
      state: "text",
      created_ms: "integer",
    },
    [
      primaryKey("id"),
      refers("request_id", "request"),
      oneOf("state", "waiting", "taken_by_waiter", "job_made", "dropped"),
    ],
  ),
  index("continuation_by_request", "continuation", ["request_id", "created_ms", "id"]),
  table(
    "approval",
    {
      id: "text",
      ...TUPLE,
      match: "text",
      scope: "text",
      ...SESSION,
      expires_at_ms: "integer?",
      max_uses: "integer?",
      uses: "integer",
      request_id: "text?",
      ...DECIDED,
      last_used_ms: "integer?",
    },
    [
      primaryKey("id"),
      oneOf("scope", "session", "permanent"),
      `check ("max_uses" is null or "uses" <= "max_uses")`,
      // INVARIANT: neither scope can pose as the other.
      `check (("scope" = 'session' and "session_key" <> '') or ("scope" = 'permanent' and "session_key" = '' and "organization_id" = 'null' and "user_id" = 'null'))`,
    ],
  ),
  uniqueIndex("approval_identity", "approval", [...TUPLE_KEY, "scope", ...SESSION_KEY]),
  index("approval_by_time", "approval", ["created_ms", "id"]),
  index("approval_by_session", "approval", SESSION_KEY, "scope = 'session'"),
  table("denial", { id: "text", ...TUPLE, match: "text", request_id: "text?", ...DECIDED }, [
    primaryKey("id"),
  ]),
  uniqueIndex("denial_identity", "denial", TUPLE_KEY),
  index("denial_by_time", "denial", ["created_ms", "id"]),
  table(
    "rule",
    {
      id: "text",
      effect: "text",
      source: "text",
      ...SESSION,
      subject_type: "text?",
      subject_name: "text?",
      resource_type: "text",
      operation: "text",
      target: "text",
      match: "text?",
      created_by: "text",
      created_ms: "integer",
    },
    [
      primaryKey("id"),
      oneOf("effect", "deny", "ask", "allow"),
      oneOf("source", "host", "organization", "user", "session"),
      `check ("effect" <> 'allow' or "source" = 'host')`,
      `check (("subject_type" is null) = ("subject_name" is null))`,
    ],
  ),
  table("ended_session", { ...SESSION, ended_ms: "integer" }, [primaryKey(...SESSION_KEY)]),
  table("setting", { key: "text", value: "text", changed_ms: "integer" }, [primaryKey("key")]),
  table(
    "job",
    {
      id: "text",
      continuation_id: "text",
      request_id: "text",
      approval_id: "text",
      action: "text",
      owner_module: "text",
      state: "text",
      attempts: "integer",
      lease_number: "integer",
      lease_owner: "text?",
      lease_until_ms: "integer?",
      next_at_ms: "integer",
      last_error: "text?",
      idempotency_key: "text",
      created_ms: "integer",
      finished_ms: "integer?",
    },
    [
      primaryKey("id"),
      refers("continuation_id", "continuation"),
      refers("request_id", "request"),
      oneOf("state", "ready", "leased", "done", "parked"),
      `check (("state" = 'leased') = ("lease_owner" is not null and "lease_until_ms" is not null))`,
    ],
  ),
  uniqueIndex("job_continuation", "job", ["continuation_id"]),
  index("job_due", "job", ["next_at_ms", "id"], "state in ('ready', 'leased')"),
  index("job_by_time", "job", ["created_ms", "id"]),
  index("job_by_request", "job", ["request_id"]),
  table(
    "event",
    {
      node: "text",
      seq: "integer",
      time_ms: "integer",
      type: "text",
      subject_type: "text?",
      subject_name: "text?",
      resource_type: "text?",
      operation: "text?",
      target: "text?",
      ...SESSION,
      request_id: "text?",
      decision: "text?",
      decision_source: "text?",
      code: "text?",
      body: "text",
      prev_hash: "bytes",
      hash: "bytes",
    },
    [primaryKey("node", "seq")],
  ),
  index("event_by_time", "event", ["time_ms", "node", "seq"]),
  index("event_by_subject", "event", ["subject_type", "subject_name", "time_ms"], "subject_name is not null"),
  index("event_by_request", "event", ["request_id"], "request_id is not null"),
  table(
    "checkpoint",
    {
      node: "text",
      seq: "integer",
      hash: "bytes",
      time_ms: "integer",
      key_id: "text",
      signature: "bytes",
      other_heads: "text",
    },
    [primaryKey("node", "seq")],
  ),
  table("change", { revision: "integer", body: "text", created_ms: "integer" }, [primaryKey("revision")]),
  table("counter", { name: "text", value: "integer" }, [primaryKey("name")]),
  () => `insert into "counter" ("name", "value") values ('revision', 0)`,
  table(
    "node",
    {
      id: "text",
      confirmed_revision: "integer",
      lease_until_ms: "integer",
      started_ms: "integer",
      info: "text",
    },
    [primaryKey("id")],
  ),
];

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

export const MIGRATIONS: readonly Migration[] = Object.freeze([
  { version: 1, statements: (kind: EngineKind) => FIRST.map((statement) => statement(kind)) },
  { version: 2, statements: (kind: EngineKind) => SECOND.map((statement) => statement(kind)) },
  { version: 3, statements: (kind: EngineKind) => THIRD.map((statement) => statement(kind)) },
  { version: 4, statements: (kind: EngineKind) => FOURTH.map((statement) => statement(kind)) },
]);
