/**
 * Revisions, the log of changes that snapshots catch up from, and the nodes that have to hear of them.
 * INVARIANT: revisions are committed in order: whoever sees revision n sees all that is before it.
 */
import type { Json } from "./vocabulary.ts";

export interface ChangeRow {
  readonly revision: number;
  readonly body: Json;
  readonly createdMs: number;
}

export type NewChange = Omit<ChangeRow, "revision">;

export interface RevisionReader {
  /** Zero in a new store. */
  current(): Promise<number>;
  /** In order. Where the first row is not `revision + 1` the log was trimmed: take a whole snapshot. */
  changesAfter(revision: number, limit: number): Promise<readonly ChangeRow[]>;
}

export interface RevisionVerbs extends RevisionReader {
  /**
   * The next revision, with its row, which may hold several changes; others that append wait until this transaction ends.
   * Append late.
   */
  append(change: NewChange): Promise<number>;
  /** Forgets the log up to and including `revision`; revisions go on from where they were. How many rows are gone. */
  trim(revision: number): Promise<number>;
}

export interface NodeRow {
  readonly id: string;
  readonly confirmedRevision: number;
  readonly leaseUntilMs: number;
  readonly startedMs: number;
  readonly info: Json;
}

export interface NodeReader {
  get(id: string): Promise<NodeRow | null>;
  list(): Promise<readonly NodeRow[]>;
  /** Those whose lease ends after `nowMs`. */
  listLive(nowMs: number): Promise<readonly NodeRow[]>;
}

export interface NodeVerbs extends NodeReader {
  upsert(node: NodeRow): Promise<void>;
  /** False where the node was removed: it is no longer one of us. */
  heartbeat(id: string, leaseUntilMs: number): Promise<boolean>;
  /** Never goes back. False where the node was removed. */
  confirm(id: string, revision: number): Promise<boolean>;
  remove(id: string): Promise<boolean>;
}
