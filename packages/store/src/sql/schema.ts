/**
 * The tables as the query builder sees them: snake_case, one column per identity field.
 * `target_hash` is the SHA-256 of `target` alone: PostgreSQL cannot index 8 KiB of text, and a hash of one field
 * joins nothing. Every look-up compares the text as well.
 */
interface TupleColumns {
  subject_type: string;
  subject_name: string;
  resource_type: string;
  operation: string;
  target: string;
  target_hash: Uint8Array;
}

/** Organization and user as JSON scalars (`21`, `"21"`, `null`); an empty session key is none. */
interface SessionColumns {
  organization_id: string;
  user_id: string;
  session_key: string;
}

export interface RequestTable extends TupleColumns, SessionColumns {
  id: string;
  target_requested: string;
  task_id: string | null;
  subject_chain: string;
  mode: string;
  destructive: string;
  attested_by: string;
  status: string;
  count: number;
  first_seen_ms: number;
  last_seen_ms: number;
  expires_at_ms: number;
  decided_by: string | null;
  decided_at_ms: number | null;
  decision_reason: string | null;
  approval_id: string | null;
  /** SQLite alone: it stands among the pending ones in the indexes that these are listed by. */
  in_pending?: number | undefined;
}

export interface ContinuationTable extends SessionColumns {
  id: string;
  request_id: string;
  action: string | null;
  sealed_context: Uint8Array | null;
  key_id: string | null;
  task_id: string | null;
  state: string;
  created_ms: number;
}

export interface ApprovalTable extends TupleColumns, SessionColumns {
  id: string;
  match: string;
  scope: string;
  expires_at_ms: number | null;
  max_uses: number | null;
  uses: number;
  request_id: string | null;
  action_id: string;
  decided_by: string;
  reason: string | null;
  created_ms: number;
  last_used_ms: number | null;
  /** SQLite alone: lists find it. */
  listed?: number | undefined;
}

export interface DenialTable extends TupleColumns {
  id: string;
  match: string;
  request_id: string | null;
  action_id: string;
  decided_by: string;
  reason: string | null;
  created_ms: number;
}

export interface RuleTable extends SessionColumns {
  id: string;
  effect: string;
  source: string;
  subject_type: string | null;
  subject_name: string | null;
  resource_type: string;
  operation: string;
  target: string;
  match: string | null;
  created_by: string;
  created_ms: number;
}

interface EndedSessionTable extends SessionColumns {
  ended_ms: number;
}

export interface SettingTable {
  key: string;
  value: string;
  changed_ms: number;
}

export interface JobTable {
  id: string;
  continuation_id: string;
  request_id: string;
  approval_id: string;
  action: string;
  owner_module: string;
  state: string;
  attempts: number;
  lease_number: number;
  lease_owner: string | null;
  lease_until_ms: number | null;
  next_at_ms: number;
  last_error: string | null;
  idempotency_key: string;
  created_ms: number;
  finished_ms: number | null;
}

export interface EventTable extends SessionColumns {
  node: string;
  seq: number;
  time_ms: number;
  type: string;
  subject_type: string | null;
  subject_name: string | null;
  resource_type: string | null;
  operation: string | null;
  target: string | null;
  task_id: string | null;
  request_id: string | null;
  decision: string | null;
  decision_source: string | null;
  code: string | null;
  body: string;
  prev_hash: Uint8Array;
  hash: Uint8Array;
  /** SQLite alone: searches find it. */
  indexed: number;
}

export interface CheckpointTable {
  node: string;
  seq: number;
  hash: Uint8Array;
  time_ms: number;
  key_id: string;
  signature: Uint8Array;
  other_heads: string;
  begin_seq: number;
  begin_hash: Uint8Array;
}

export interface ChangeTable {
  revision: number;
  body: string;
  created_ms: number;
}

/** PostgreSQL: the revision. SQLite: no less than what was trimmed; the newest row of the changes is the revision. */
interface CounterTable {
  name: string;
  value: number;
}

export interface NodeTable {
  id: string;
  confirmed_revision: number;
  lease_until_ms: number;
  started_ms: number;
  info: string;
}

export interface RecordTable {
  kind: string;
  id: string;
  body: string;
  created_ms: number;
  due_ms: number | null;
  version: number;
}

export interface Schema {
  request: RequestTable;
  continuation: ContinuationTable;
  approval: ApprovalTable;
  denial: DenialTable;
  rule: RuleTable;
  ended_session: EndedSessionTable;
  setting: SettingTable;
  job: JobTable;
  event: EventTable;
  checkpoint: CheckpointTable;
  change: ChangeTable;
  counter: CounterTable;
  node: NodeTable;
  server_record: RecordTable;
}
