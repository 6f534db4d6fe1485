/**
 * The audit log: rows that are appended, never changed, and deleted only behind a signed checkpoint.
 * The store keeps bodies byte by byte and does not compute hashes: the chain is the service's.
 */
import type {
  DecisionSource,
  EventType,
  Operation,
  Outcome,
  ResourceType,
  SubjectType,
} from "@sallyport/contract";
import type { IdentityFilter, Json, OriginColumns, Page, PageRequest, SessionFilter } from "./vocabulary.ts";

/** What a chain is verified by. */
/** What the hash of a row is made of, as text: hashes in lower-case hex. */
export interface ChainText {
  readonly seq: number;
  readonly timeMs: number;
  readonly body: string;
  readonly prevHash: string;
  readonly hash: string;
}

export interface ChainedRow {
  readonly node: string;
  readonly seq: number;
  readonly timeMs: number;
  /** Canonical JSON, given back exactly as it was. */
  readonly body: string;
  readonly prevHash: Uint8Array;
  readonly hash: Uint8Array;
}

/** Both ends included, in order, at most `limit` rows. */
export interface ChainSpan {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** Columns beside the body are for search; `null` where the event has none. */
export interface EventRow extends ChainedRow, OriginColumns {
  readonly type: EventType | (string & {});
  readonly subjectType: SubjectType | null;
  readonly subjectName: string | null;
  readonly resourceType: ResourceType | null;
  readonly operation: Operation | null;
  /** Masked where it held something like a credential. */
  readonly target: string | null;
  readonly requestId: string | null;
  readonly decision: Outcome | null;
  readonly decisionSource: DecisionSource | null;
  readonly code: string | null;
}

export interface EventFilter extends IdentityFilter, SessionFilter {
  readonly node?: string | undefined;
  readonly type?: string | undefined;
  readonly taskId?: string | null | undefined;
  readonly requestId?: string | undefined;
  readonly decision?: Outcome | undefined;
  readonly decisionSource?: DecisionSource | undefined;
  readonly code?: string | undefined;
  /** Inclusive. */
  readonly fromMs?: number | undefined;
  /** Exclusive. */
  readonly toMs?: number | undefined;
}

export interface EventCursor {
  readonly timeMs: number;
  readonly node: string;
  readonly seq: number;
}

/** How many events of one decision fell into one span of time. */
/** How often one target was met with one answer. */
export interface TargetCount {
  readonly resourceType: ResourceType;
  readonly operation: Operation;
  readonly target: string;
  readonly code: string;
  readonly count: number;
  readonly lastMs: number;
}

export interface EventCount {
  /** The begin of the span: a multiple of its length. */
  readonly fromMs: number;
  readonly decision: Outcome;
  readonly count: number;
}

export interface EventReader {
  /** The head of a node's chain. */
  lastOf(node: string): Promise<EventRow | null>;
  /** The head of every chain, by node. */
  heads(): Promise<readonly EventRow[]>;
  /** The oldest row of a node's chain that is there. */
  firstOf(node: string): Promise<ChainedRow | null>;
  range(node: string, span: ChainSpan): Promise<readonly EventRow[]>;
  /** The same rows without the columns that are searched by. WHY text: bytes cost a driver more than the row itself. */
  chain(node: string, span: ChainSpan): Promise<readonly ChainText[]>;
  /** The number of the last row before the first one that is not older than this moment; 0 where there is none. */
  lastBefore(node: string, timeMs: number): Promise<number>;
  /** Events with a decision, by span of `bucketMs`, oldest first; at most `limit` counts. */
  countByTime(
    filter: EventFilter,
    span: { readonly bucketMs: number; readonly limit: number },
  ): Promise<readonly EventCount[]>;
  /** Events with a target and a code, by (resource type, operation, target, code), in that order. */
  countByTarget(
    filter: EventFilter,
    page: { readonly limit: number; readonly after: TargetCount | null },
  ): Promise<readonly TargetCount[]>;
  /** By (time, node, seq). */
  search(filter: EventFilter, page: PageRequest<EventCursor>): Promise<Page<EventRow, EventCursor>>;
}

export interface EventVerbs extends EventReader {
  /** All or none. Refused where a (node, seq) exists. */
  append(rows: readonly EventRow[]): Promise<void>;
  /**
   * Deletes rows before `seq`, but only up to the newest checkpoint at or before it whose row is there with the
   * same hash. That row stays, so the chain verifies from it. How many rows are gone.
   */
  deleteBefore(node: string, seq: number): Promise<number>;
}

export interface CheckpointRow {
  readonly node: string;
  readonly seq: number;
  readonly hash: Uint8Array;
  readonly timeMs: number;
  readonly keyId: string;
  readonly signature: Uint8Array;
  /** Heads of the other chains at this moment. */
  readonly otherHeads: Json;
  /** The row that the first row of the chain continues from; 0 as long as nothing was removed. */
  readonly beginSeq: number;
  readonly beginHash: Uint8Array;
}

export interface CheckpointReader {
  /** Every node that has one. */
  nodes(): Promise<readonly string[]>;
  latestOf(node: string): Promise<CheckpointRow | null>;
  /** By seq, at most `limit` after `afterSeq`. */
  list(
    node: string,
    span: { readonly afterSeq: number; readonly limit: number },
  ): Promise<readonly CheckpointRow[]>;
}

export interface CheckpointVerbs extends CheckpointReader {
  /** False where the node has a checkpoint at this seq. */
  insert(checkpoint: CheckpointRow): Promise<boolean>;
}
