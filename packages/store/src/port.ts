/**
 * The port of the store: what the service may ask of any engine. Rows are camelCase values that are frozen; no
 * driver type, no SQL and no driver error crosses it.
 *
 * Faults are `StoreUnavailableError` (engine cannot answer), `StoreConflictError` (a row with this key exists),
 * `StoreValueError` (a value cannot be kept exactly), `StoreUsageError` (a call in the wrong place).
 */
import type { CheckpointReader, CheckpointVerbs, EventReader, EventVerbs } from "./port/audit-port.ts";
import type {
  ApprovalReader,
  ApprovalVerbs,
  DenialReader,
  DenialVerbs,
  RuleReader,
  RuleVerbs,
  SessionReader,
  SessionVerbs,
  SettingReader,
  SettingVerbs,
} from "./port/decision-port.ts";
import type { JobReader, JobVerbs } from "./port/job-port.ts";
import type {
  ContinuationReader,
  ContinuationVerbs,
  RequestReader,
  RequestVerbs,
} from "./port/request-port.ts";
import type { RecordReader, RecordVerbs } from "./port/record-port.ts";
import type { NodeReader, NodeVerbs, RevisionReader, RevisionVerbs } from "./port/revision-port.ts";

/** Reads see one moment of the store. */
export interface StoreReader {
  readonly requests: RequestReader;
  readonly continuations: ContinuationReader;
  readonly approvals: ApprovalReader;
  readonly denials: DenialReader;
  readonly rules: RuleReader;
  readonly sessions: SessionReader;
  readonly settings: SettingReader;
  readonly jobs: JobReader;
  readonly events: EventReader;
  readonly checkpoints: CheckpointReader;
  readonly revisions: RevisionReader;
  readonly nodes: NodeReader;
  readonly records: RecordReader;
  /** The clock that all nodes share (PostgreSQL: the server's); leases are compared by it. */
  nowMs(): Promise<number>;
}

/**
 * Each verb is one statement where that is possible. A later statement sees what others committed before it
 * (read committed); `requests.lock`, `revisions.append` and every conditional update take row locks.
 */
export interface StoreTransaction extends StoreReader {
  readonly requests: RequestVerbs;
  readonly continuations: ContinuationVerbs;
  readonly approvals: ApprovalVerbs;
  readonly denials: DenialVerbs;
  readonly rules: RuleVerbs;
  readonly sessions: SessionVerbs;
  readonly settings: SettingVerbs;
  readonly jobs: JobVerbs;
  readonly events: EventVerbs;
  readonly checkpoints: CheckpointVerbs;
  readonly revisions: RevisionVerbs;
  readonly nodes: NodeVerbs;
  readonly records: RecordVerbs;
}

export interface AccessStore {
  readonly engine: "sqlite" | "postgres";
  /**
   * Commits when `work` fulfils and is durable when this fulfils; rolls back when `work` rejects.
   * `work` may run again after a deadlock: it must do nothing outside the transaction, and must not start another.
   */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /** One consistent moment, read only. */
  read<T>(work: (tx: StoreReader) => Promise<T>): Promise<T>;
  /**
   * A hint that the store moved to at least this revision, here or on another node. Rising, may skip, may be
   * late: whoever needs certainty reads `revisions.current()`.
   */
  onRevision(listener: (revision: number) => void): () => void;
  /** Waits for open transactions. Later calls are refused. */
  close(): Promise<void>;
}

export type * from "./port/audit-port.ts";
export type * from "./port/decision-port.ts";
export type * from "./port/revision-port.ts";
export type * from "./port/vocabulary.ts";
export {
  type Claim,
  JOB_STATES,
  type JobFilter,
  type JobLease,
  type JobReader,
  type JobRow,
  type JobState,
  type JobVerbs,
  type NewJob,
} from "./port/job-port.ts";
export {
  type NewRecord,
  RECORD_KINDS,
  type RecordKind,
  type RecordReader,
  type RecordRow,
  type RecordVerbs,
} from "./port/record-port.ts";
export {
  type AskedRequest,
  CONTINUATION_STATES,
  type ContinuationReader,
  type ContinuationRow,
  type ContinuationState,
  type ContinuationVerbs,
  type NewRequest,
  type RequestFilter,
  type RequestIdentity,
  type RequestReader,
  type RequestRow,
  type RequestVerbs,
  type Settlement,
} from "./port/request-port.ts";
