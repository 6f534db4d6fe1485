/**
 * What a decision is about: the request that was shown, or an access that is named; how far it reaches; whether it
 * can be decided at all. Refusals say what to do next.
 * INVARIANT: a decision that reaches further than the request covers the request itself, as the engine sees it.
 */
import { type Match, parseTarget } from "@sallyport/contract";
import type { Change } from "@sallyport/policy";
import type { AskedRequest, SessionIdentity, StoreTransaction, Tuple } from "@sallyport/store";
import { type Coverage, coverageOf, sessionOfRow } from "./coverage.ts";
import {
  type ByAccess,
  type ByRequest,
  type Decision,
  type DecisionKind,
  type Refusal,
  type SessionApprovalWords,
  refusal,
} from "./decision-request.ts";
import { parseDigest } from "./digest/shown-digest.ts";
import type { NodeParts } from "./node-parts.ts";
import type { ActorColumns } from "./policy-event.ts";
import { approvalRecord, deciderId, denialRecord, tupleOf } from "./policy-rows.ts";
import { digestOfRequest } from "./request-record.ts";

export interface Aim {
  readonly by: ByRequest | ByAccess;
  readonly words: SessionApprovalWords;
}

export interface Aimed {
  readonly ok: true;
  readonly request: AskedRequest | null;
  /**
   * Nothing goes on after the request, as was seen under its lock.
   * INVARIANT: it stays so until the transaction ends: whoever adds a continuation writes the request first.
   */
  readonly endsThere: boolean;
  /** With the target as far as it is widened. */
  readonly tuple: Tuple;
  readonly match: Match;
  /** Of a session approval. */
  readonly session: SessionIdentity | null;
  readonly covers: Extract<Coverage, { readonly ok: true }>["covers"];
}

/** A refusal, and the request where it was decided before. */
export interface Missed {
  readonly ok: false;
  readonly refusal: Refusal;
  readonly settled: AskedRequest | null;
}

export async function aimOf(
  parts: NodeParts,
  tx: StoreTransaction,
  kind: DecisionKind,
  { by, words }: Aim,
): Promise<Aimed | Missed> {
  const wordsFault = faultOfWords(parts, words);
  if (wordsFault !== undefined) return missed(wordsFault);
  const request = await requestOf(tx, by);
  if (request === null && ("requestId" in by || kind === "approve_for_session"))
    return missed(refusal("not_found", NOT_FOUND));
  if (request !== null) {
    const fault = await faultOfRequest(parts, tx, request, kind, words);
    if (fault !== undefined) return fault;
  }
  const isShown = request !== null && "requestId" in by;
  const continuations = isShown ? await tx.continuations.listOf(request.id) : null;
  if (isShown && digestOfRequest(request, continuations ?? []) !== parseDigest(by.digest))
    return missed(refusal("digest_mismatch", "the request changed after it was shown: look at it again"));
  const endsThere = continuations?.length === 0;
  return widened(parts, kind, request ?? accessTuple(by as ByAccess), { request, endsThere }, words);
}

const NOT_FOUND = "there is no such pending request: list the pending ones and decide one of those";

function faultOfWords(
  { clock }: NodeParts,
  { expiresAtMs = null, maxUses = null }: Aim["words"],
): Refusal | undefined {
  if (maxUses !== null && !(Number.isSafeInteger(maxUses) && maxUses >= 1))
    return refusal("invalid_operation", "`max_uses` must be a whole number from 1 on");
  if (expiresAtMs !== null && !(Number.isSafeInteger(expiresAtMs) && expiresAtMs > clock.nowMs()))
    return refusal("invalid_operation", "`expires_at` must be a time that is still to come");
  return undefined;
}

async function requestOf(tx: StoreTransaction, by: Aim["by"]): Promise<AskedRequest | null> {
  if ("requestId" in by) return tx.requests.lock(by.requestId);
  if (by.session === undefined) return null;
  const pending = await tx.requests.findPending({ ...accessTuple(by), ...by.session });
  return pending === null ? null : tx.requests.lock(pending.id);
}

async function faultOfRequest(
  parts: NodeParts,
  tx: StoreTransaction,
  request: AskedRequest,
  kind: DecisionKind,
  words: Aim["words"],
): Promise<Missed | undefined> {
  if (request.status !== "pending" || request.expiresAtMs <= parts.clock.nowMs())
    return { ok: false, refusal: decidedRefusal(request), settled: request };
  if (kind === "approve_for_session") {
    const fault = await faultOfSession(tx, request, words);
    if (fault !== undefined) return missed(fault);
  }
  return undefined;
}

async function faultOfSession(
  tx: StoreTransaction,
  request: AskedRequest,
  words: Aim["words"],
): Promise<Refusal | undefined> {
  const { sessionKey } = request;
  if (sessionKey === null)
    return refusal(
      "session_key_required",
      "the request has no session key: approve it permanently or deny it",
    );
  if (words.sessionKey !== undefined && words.sessionKey !== sessionKey)
    return refusal("session_key_required", "the session key is not the request's own: leave it out");
  const { organizationId, userId } = request;
  if (await tx.sessions.isEnded({ organizationId, userId, sessionKey }))
    return refusal("session_key_required", "the session has ended: approve it permanently or deny it");
  return undefined;
}

function decidedRefusal(request: AskedRequest): Refusal {
  const status = request.status === "pending" ? "expired" : request.status;
  const decidedBy = deciderId(request.decidedBy);
  const who = decidedBy === null ? "" : ` by user \`${String(decidedBy)}\``;
  return refusal("already_decided", `the request is ${status.replace("_", " for ")}${who} already`, {
    decidedBy,
    status,
  });
}

function widened(
  parts: NodeParts,
  kind: DecisionKind,
  asked: Tuple,
  { request, endsThere }: Pick<Aimed, "request" | "endsThere">,
  { widen }: Aim["words"],
): Aimed | Missed {
  const match = widen?.match ?? "exact";
  const parsed = parseTarget(asked.resourceType, widen?.target ?? asked.target, parts.parseUrl);
  if (!parsed.ok) return missed(refusal("invalid_target", parsed.message));
  const { subject, resourceType, operation } = asked;
  const tuple: Tuple = { subject, resourceType, operation, target: parsed.value.text };
  const session = kind === "approve_for_session" && request !== null ? sessionOfRow(request) : null;
  const coverage = coverageOf(parts, scratchChange(kind, tuple, match, session));
  if (!coverage.ok) return missed(refusal("invalid_target", coverage.message));
  const asking = request === null ? { organizationId: null, userId: null, sessionKey: null } : request;
  if (!coverage.covers(tupleOf(asked), sessionOfRow(asking)))
    return missed(refusal("invalid_target", "the widening does not cover the request: choose a wider one"));
  return { ok: true, request, endsThere, tuple, match, session, covers: coverage.covers };
}

function scratchChange(
  kind: DecisionKind,
  tuple: Tuple,
  match: Match,
  session: SessionIdentity | null,
): Change {
  const { subject, resourceType, operation, target } = tuple;
  const fact = { id: "scratch", subject, resourceType, operation, target, match };
  if (kind === "block") return { kind: "rule_set", rule: { ...fact, effect: "deny", source: "host" } };
  if (kind === "deny") return { kind: "denial_set", denial: fact };
  // WHY field by field: an object that is spread into another one costs more than the rest of it.
  return {
    kind: "approval_set",
    approval: {
      id: "scratch",
      subject,
      resourceType,
      operation,
      target,
      match,
      scope: session === null ? "permanent" : "session",
      organizationId: session?.organizationId ?? null,
      userId: session?.userId ?? null,
      sessionKey: session?.sessionKey ?? null,
      expiresAtMs: null,
      usesLeft: null,
    },
  };
}

const STATUS_OF = {
  approve_for_session: "approved_session",
  approve_permanently: "approved_permanent",
  deny: "denied",
  block: "denied",
} as const satisfies Record<DecisionKind, AskedRequest["status"]>;

export function statusOf(kind: DecisionKind): (typeof STATUS_OF)[DecisionKind] {
  return STATUS_OF[kind];
}

/** The same person saying the same again gets the same answer; everybody else is told who was first. */
export async function repeatedAnswer(
  tx: StoreTransaction,
  { refusal: told, settled }: Missed,
  kind: DecisionKind,
  { words }: Aim,
  actor: ActorColumns,
): Promise<Decision> {
  if (settled === null || settled.status !== statusOf(kind)) return told;
  if (deciderId(settled.decidedBy) !== actor.userId || actor.userId === null) return told;
  const approval = settled.approvalId === null ? null : await tx.approvals.get(settled.approvalId);
  if (approval !== null && words.widen !== undefined && approval.match !== words.widen.match) return told;
  const denial = kind === "deny" ? await tx.denials.findByTuple(tupleOf(settled)) : null;
  return Object.freeze({
    ok: true,
    kind,
    requestId: settled.id,
    approval: approval === null ? null : approvalRecord(approval),
    denial: denial === null ? null : denialRecord(denial),
    ruleId: null,
    settled: [settled.id],
    jobs: 0,
    revision: await tx.revisions.current(),
    repeated: true,
  });
}

function accessTuple({ subject, access }: ByAccess): Tuple {
  const { resourceType, operation, target } = access;
  return { subject, resourceType, operation, target: target.text };
}

function missed(fault: Refusal): Missed {
  return { ok: false, refusal: fault, settled: null };
}
