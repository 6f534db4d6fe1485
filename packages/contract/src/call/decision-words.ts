/**
 * What a person says when deciding, and what they get back. Arguments are the person's own words: who they are comes
 * from the context and has no place here.
 */
import type { Access } from "../access.ts";
import type { ErrorCode } from "../errors.ts";
import type { Subject } from "../subject.ts";
import type { Match } from "../target/pattern.ts";
import type { Approval, Denial } from "../wire/approval.ts";
import type { RequestStatus } from "../wire/pending-request.ts";
import type { CallerSession } from "./caller.ts";

/** By what was shown. */
export interface ByRequest {
  readonly requestId: string;
  /** Of what was shown. */
  readonly digest: string;
}

/** By what is meant. A session approval needs the pending request of that session. */
export interface ByAccess {
  readonly subject: Subject;
  readonly access: Access;
  readonly session?: CallerSession | undefined;
}

export interface DecisionWords {
  /** Where the decision shall reach further than the request: the target as a widening names it. */
  readonly widen?: { readonly match: Match; readonly target: string } | undefined;
  readonly reason?: string | undefined;
}

export interface ApprovalWords extends DecisionWords {
  readonly expiresAtMs?: number | null | undefined;
  /** "Once" is 1. */
  readonly maxUses?: number | null | undefined;
}

export interface SessionApprovalWords extends ApprovalWords {
  /** Must be the request's own. */
  readonly sessionKey?: string | undefined;
}

export type DecisionKind = "approve_for_session" | "approve_permanently" | "deny" | "block";

/** `not_found` beside codes of the contract. */
export const REFUSAL_CODES = [
  "session_key_required",
  "already_decided",
  "digest_mismatch",
  "invalid_target",
  "invalid_operation",
  "unavailable",
  "not_found",
] as const satisfies readonly (ErrorCode | "not_found")[];
export type RefusalCode = (typeof REFUSAL_CODES)[number];

export interface Refusal {
  readonly ok: false;
  readonly code: RefusalCode;
  readonly message: string;
  /** Who decided, where somebody did. */
  readonly decidedBy?: number | string | null;
  readonly status?: RequestStatus;
}

export interface Decided {
  readonly ok: true;
  readonly kind: DecisionKind;
  /** `null` where the decision was made ahead. */
  readonly requestId: string | null;
  readonly approval: Approval | null;
  readonly denial: Denial | null;
  readonly ruleId: string | null;
  /** Every request that is settled by it, the named one first. */
  readonly settled: readonly string[];
  /** Resumes that it set going. */
  readonly jobs: number;
  readonly revision: number;
  /** The same was decided before, and this is that answer. */
  readonly repeated: boolean;
}

export type Decision = Decided | Refusal;
