/**
 * A pending request: made once per tuple, organization, user and session, and counted from then on, with the
 * continuation of whoever wants to go on and the event that says so, all in one transaction. Repeats that bring
 * nothing new are counted in memory for a moment.
 * Trusts the verdict for the subject. Must never leave a request behind for what is decided already.
 */
import type { Access, ExternalAccessCheck, Subject } from "@sallyport/contract";
import type { Context } from "@sallyport/policy";
import type {
  AskedRequest,
  ContinuationRow,
  NewRequest,
  RequestIdentity,
  RequestRow,
  StoreReader,
  StoreTransaction,
} from "@sallyport/store";
import {
  type UnchainedEvent,
  actionFacts,
  chainOf,
  checkedEvent,
  isBlockedOperation,
  requestedEvent,
} from "./access-events.ts";
import { type Ask, type CallerContext, originOf, sessionOf, standingFrames } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { continuationIdentity } from "./continuation-identity.ts";
import type { Registered } from "./registered.ts";
import { requestRecord } from "./request-record.ts";
import { sealContext } from "./seal/sealed-context.ts";

/** What goes on after the approval. */
export interface ResumeDraft {
  readonly action: string;
  /** Plain JSON; `undefined` where there is none. */
  readonly context: unknown;
}

export interface Registration {
  readonly caller: CallerContext;
  readonly context: Context;
  readonly ask: Ask;
  readonly subject: Subject;
  readonly access: Access;
  /** The answer as it will be given once the id is known. */
  readonly answer: (requestId: string) => ExternalAccessCheck;
  readonly resume: ResumeDraft | null;
  /** The caller waits: its continuation is kept from becoming a job at once. */
  readonly isWaiting: boolean;
  /** The view of the store that the verdict was made on. */
  readonly revision: number;
}

export type { Registered } from "./registered.ts";

/**
 * What has no continuation and is pending already is only counted, in memory at first; everything else is written.
 * INVARIANT: every write that a subject causes by asking takes from its rate.
 */
export async function registerRequest(parts: NodeParts, registration: Registration): Promise<Registered> {
  if (registration.resume !== null) return writeRequest(parts, registration);
  const identity = identityOf(registration);
  const { subject, resourceType, operation, target, organizationId, userId, sessionKey } = identity;
  const fields = [subject.type, subject.name, resourceType, operation, target];
  const registered = await parts.repeated.through(
    [...fields, organizationId, userId, sessionKey],
    registration.revision,
    // WHY: most of what is asked for the first time is not pending, and a look before the write would be for nothing.
    async (seen) =>
      (seen === "lately" ? await findPending(parts, registration) : null) ??
      writeRequest(parts, registration),
  );
  if (registered.kind === "registered" && !registered.isNew) {
    const violations: UnchainedEvent[] = [];
    recordBlocked(parts, registration, registered.requestId, (event) => violations.push(event));
    for (const event of violations) await parts.audit.recordDurably(event);
  }
  return registered;
}

/** A look without a write; `null` where nothing is pending. */
function findPending(parts: NodeParts, registration: Registration): Promise<Registered | null> {
  const identity = identityOf(registration);
  return parts.store.read(async (tx): Promise<Registered | null> => {
    const unfit = await unfitness(tx, registration);
    if (unfit !== null) return unfit;
    const pending = await tx.requests.findPending(identity);
    if (pending === null) return null;
    parts.repeated.owe(pending.id);
    return registeredAs(pending, null, { isNew: false });
  });
}

async function unfitness(tx: StoreReader, registration: Registration): Promise<Registered | null> {
  if ((await tx.revisions.current()) > registration.revision) return { kind: "stale" };
  const { organizationId, userId, sessionKey } = sessionOf(registration.caller);
  if (sessionKey !== null && (await tx.sessions.isEnded({ organizationId, userId, sessionKey })))
    return { kind: "session_ended" };
  return null;
}

async function writeRequest(parts: NodeParts, registration: Registration): Promise<Registered> {
  // WHY: drawn here, because the transaction may run more than once.
  const ids = { request: parts.newId("request"), continuation: parts.newId("continuation") };
  let hasBudget: boolean | null = null;
  return parts.audit.transaction(async (tx, record): Promise<Registered> => {
    const { caller, subject, resume } = registration;
    // INVARIANT: whoever the host entered pays; a frame that guarded code made up spends nothing of whom it names.
    const payer = standingFrames(caller.frames)[0]?.subject ?? subject;
    const unfit = await unfitness(tx, registration);
    if (unfit !== null) return unfit;
    const pending = await tx.requests.findPending(identityOf(registration));
    if (pending === null || resume !== null) hasBudget ??= parts.rate.take(payer);
    if (hasBudget === false) return { kind: "limited" };
    if (pending !== null) {
      if (resume !== null && (await tx.continuations.countOf(pending.id)) >= parts.limits.continuationsMax)
        return { kind: "limited" };
      const count = await tx.requests.touchPending(pending.id, parts.clock.nowMs());
      if (count === null) return { kind: "stale" };
      const continuationId = await addContinuation(parts, tx, registration, pending, ids.continuation);
      if (resume !== null) recordBlocked(parts, registration, pending.id, record);
      return registeredAs(pending, continuationId, { isNew: false });
    }
    if ((await tx.requests.countPending(subject)) >= roomFor(parts, caller)) return { kind: "limited" };
    const made = newRequest(parts, registration, ids.request);
    if (!(await tx.requests.insert(made))) return { kind: "stale" };
    const row: RequestRow = { ...made, ...AS_MADE, lastSeenMs: made.firstSeenMs };
    const continuationId = await addContinuation(parts, tx, registration, row, ids.continuation);
    const continuations = continuationId === null ? [] : await tx.continuations.listOf(row.id);
    const shown = requestRecord(row, continuations, parts);
    const facts = actionFacts(caller, registration.context, parts.live.facts);
    const { decision } = registration.answer(row.id);
    record(requestedEvent(parts.audit.stamp(), shown, { ...facts, decision }));
    recordBlocked(parts, registration, row.id, record);
    return registeredAs(row, continuationId, { isNew: true });
  });
}

/** WHY half: requests in a made-up name must leave room for those that the subject of that name makes itself. */
function roomFor({ limits }: NodeParts, { frames }: CallerContext): number {
  return frames.at(-1)?.entry === "guarded" ? Math.floor(limits.pendingMax / 2) : limits.pendingMax;
}

/** What the store says of a request that was just made. */
const AS_MADE = {
  status: "pending",
  count: 1,
  decidedBy: null,
  decidedAtMs: null,
  decisionReason: null,
  approvalId: null,
} as const;

function registeredAs(
  { id, expiresAtMs }: AskedRequest,
  continuationId: string | null,
  { isNew }: { readonly isNew: boolean },
): Registered {
  return { kind: "registered", requestId: id, continuationId, isNew, expiresAtMs };
}

function identityOf(registration: Registration): RequestIdentity {
  const { resourceType, operation, target } = registration.access;
  const { organizationId, userId, sessionKey } = sessionOf(registration.caller);
  // WHY field by field, here and below: an object that is spread into another one costs more than the rest of it.
  return {
    subject: registration.subject,
    resourceType,
    operation,
    target: target.text,
    organizationId,
    userId,
    sessionKey,
  };
}

function tupleOf({ subject, access }: Registration) {
  const { resourceType, operation, target } = access;
  return { subject, resourceType, operation, target: target.text };
}

function newRequest(parts: NodeParts, registration: Registration, id: string): NewRequest {
  const { caller, ask, access, context } = registration;
  const nowMs = parts.clock.nowMs();
  const { decision } = registration.answer(id);
  const { organizationId, userId, sessionKey, taskId } = originOf(caller);
  return {
    id,
    subject: registration.subject,
    resourceType: access.resourceType,
    operation: access.operation,
    target: access.target.text,
    targetRequested: access.target.requested,
    organizationId,
    userId,
    sessionKey,
    taskId,
    subjectChain: chainOf(caller),
    mode: context.mode,
    destructive: {
      destructive: decision.destructive,
      impact_scope: decision.impactScope,
      rollback_advice: decision.rollbackAdvice,
      decision_source: decision.decisionSource,
    },
    attestedBy: ask.attestedBy,
    firstSeenMs: nowMs,
    expiresAtMs: nowMs + parts.limits.requestTtlMs,
  };
}

/** INVARIANT: what a subject wants to do later is sealed before it is stored, and bound to this request. */
async function addContinuation(
  parts: NodeParts,
  tx: StoreTransaction,
  { resume, caller, isWaiting }: Registration,
  request: AskedRequest,
  id: string,
): Promise<string | null> {
  if (resume === null) return null;
  const origin = originOf(caller);
  const sealed =
    resume.context === undefined
      ? null
      : sealContext(
          parts.keyRing(),
          continuationIdentity(request, id, resume.action, origin),
          resume.context,
        );
  // WHY: `require` looked at the context before; this is for whoever comes another way.
  if (sealed !== null && !sealed.ok) throw new TypeError(sealed.message);
  const continuation: Omit<ContinuationRow, "state"> = {
    id,
    requestId: request.id,
    ...origin,
    action: resume.action,
    sealedContext: sealed?.bytes ?? null,
    keyId: sealed?.keyId ?? null,
    createdMs: parts.clock.nowMs(),
  };
  await tx.continuations.insert(continuation);
  if (isWaiting) await tx.continuations.setState(id, "waiting", "taken_by_waiter");
  return id;
}

/** A real operation that was blocked is a violation beside the request. */
function recordBlocked(
  parts: NodeParts,
  registration: Registration,
  requestId: string,
  record: (event: UnchainedEvent) => void,
): void {
  const { caller, ask, subject, context } = registration;
  const check = registration.answer(requestId);
  const facts = { caller, ask, subject, check, ...actionFacts(caller, context, parts.live.facts) };
  const make = (count: number) => checkedEvent(parts.audit.stamp(), facts, count);
  if (!isBlockedOperation(ask.attestedBy, ask.enforced, check)) return;
  const tuple = tupleOf(registration);
  const fields = [subject.type, subject.name, tuple.resourceType, tuple.operation, tuple.target, requestId];
  if (parts.repeats.isFirst(fields, make)) record(make(1));
}
