/**
 * What a server keeps beside the policy: accounts, sign-in links, sign-ins, notifications that are to be delivered, and of
 * remote hosts the proofs that were used and the credentials that were taken back. The store keeps a body and a moment when it is due; what either means is the server's to say.
 */
import type { Json, Page, PageRequest } from "./vocabulary.ts";

export const RECORD_KINDS = [
  "account",
  "sign_in_link",
  "sign_in",
  "delivery",
  "spent_proof",
  "revoked_credential",
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

export interface RecordRow {
  readonly kind: RecordKind;
  readonly id: string;
  readonly body: Json;
  readonly createdMs: number;
  /** When something has to happen with it: it expires, or it is sent. `null`: never. */
  readonly dueMs: number | null;
  /** Rises with every change. */
  readonly version: number;
}

export type NewRecord = Omit<RecordRow, "version">;

export interface RecordReader {
  get(kind: RecordKind, id: string): Promise<RecordRow | null>;
  /** By (created, id). */
  list(kind: RecordKind, page: PageRequest): Promise<Page<RecordRow>>;
}

export interface RecordVerbs extends RecordReader {
  /** False where one of this kind has the id. */
  insert(record: NewRecord): Promise<boolean>;
  /** False where somebody else changed or removed it since it was read. */
  replace(record: RecordRow): Promise<boolean>;
  /** What was removed; for exactly one caller, however many race. */
  remove(kind: RecordKind, id: string): Promise<RecordRow | null>;
  /** Those that are due, each given to one claimer, which has until `untilMs`. */
  claimDue(
    kind: RecordKind,
    claim: { readonly nowMs: number; readonly untilMs: number; readonly limit: number },
  ): Promise<readonly RecordRow[]>;
  /** How many are gone. */
  removeDue(kind: RecordKind, nowMs: number): Promise<number>;
}
