/**
 * The events of checks and requests as CloudEvents, with the columns that the log is searched by.
 * INVARIANT: a target leaves this file masked.
 */
import {
  type AccessEvent,
  type Attester,
  type CheckCode,
  type EventId,
  type ExternalAccessCheck,
  type PermissionDecision,
  type Phase,
  type Resolution,
  type Resource,
  type RequestId,
  type RequestRecord,
  type Subject,
  type SubjectFrame,
  eventWire,
  subjectFrameWire,
} from "@sallyport/contract";
import type { Context } from "@sallyport/policy";
import type { EventRow, OriginColumns, Tuple } from "@sallyport/store";
import type { EventEnvelope } from "./audit/event-chain.ts";
import { maskRequested, maskTarget } from "./audit/event-masking.ts";
import { type Ask, type CallerContext, isAccess, originOf } from "./caller-context.ts";
import type { HeldFacts } from "./held-facts.ts";
import { lastingWire } from "./lasting-wire.ts";
import { observedTarget } from "./observed-target.ts";
import { timestampOf } from "./node-clock.ts";
import { resourceOfTuple } from "./policy-rows.ts";
import { type ActionFacts, NO_SANDBOX, sharedWire } from "./shared-facts.ts";

export type EventColumns = Omit<EventRow, "node" | "seq" | "body" | "prevHash" | "hash">;

/** An event that has no place in the chain yet. */
export interface UnchainedEvent {
  readonly envelope: EventEnvelope;
  readonly columns: EventColumns;
}

/** What every event is stamped with. */
export interface EventStamp {
  readonly id: string;
  readonly nodeId: string;
  readonly timeMs: number;
  readonly maskingKey: Uint8Array;
}

export function actionFacts(caller: CallerContext, context: Context, facts: HeldFacts): ActionFacts {
  return {
    permissionState: facts.permissionState(context.mode, caller.interactive),
    sandboxProfile: caller.sandboxProfile ?? NO_SANDBOX,
  };
}

const chainWire = lastingWire((frames: CallerContext["frames"]) =>
  Object.freeze(chainOf({ frames }).map(subjectFrameWire.format)),
);

export function chainOf(caller: Pick<CallerContext, "frames">): readonly SubjectFrame[] {
  return caller.frames.map(
    ({ subject, phase, entry, contracts }) =>
      ({ subject, phase, entry, contracts }) as unknown as SubjectFrame,
  );
}

export interface CheckedFacts extends ActionFacts {
  readonly caller: CallerContext;
  readonly ask: Ask;
  readonly subject: Subject | null;
  readonly check: ExternalAccessCheck;
}

/** `permission.evaluated`, or `sandbox.violation` where a real operation was blocked and somebody saw it. */
export function checkedEvent(stamp: EventStamp, facts: CheckedFacts, count: number): UnchainedEvent {
  const { ask, check } = facts;
  const isViolation = isBlockedOperation(ask.attestedBy, ask.enforced, check);
  const attempt = attemptOf(stamp, facts);
  const observed = observedTarget(ask);
  const data = {
    ...attempt,
    ...(isViolation ? {} : { code: check.code }),
    attestedBy: ask.attestedBy,
    count,
    ...(check.allowed && observed !== null
      ? { observedTarget: maskTarget("network", observed, stamp.maskingKey) }
      : {}),
    permissionDecision: check.decision,
  };
  const type = isViolation ? "sandbox.violation" : "permission.evaluated";
  return {
    envelope: envelopeOf(stamp, type, data, {
      ...sharedWire(facts),
      subject_chain: chainWire(facts.caller.frames),
    }),
    columns: columnsOf(stamp, {
      type,
      subject: facts.subject,
      resource: attempt.resource,
      origin: attempt.origin,
      requestId: check.requestId ?? null,
      decision: check.decision,
      code: check.code,
    }),
  };
}

export function isBlockedOperation(
  attestedBy: Attester,
  enforced: boolean,
  check: ExternalAccessCheck,
): boolean {
  return enforced && attestedBy !== "service" && !check.allowed;
}

export function requestedEvent(
  stamp: EventStamp,
  record: RequestRecord,
  facts: ActionFacts & { readonly decision: PermissionDecision },
): UnchainedEvent {
  const resource = maskedResource(record.resource, stamp.maskingKey);
  const { userId = null, organizationId = null, sessionKey = null, taskId = null } = record.origin;
  const request = resource.target === record.resource.target ? record : { ...record, resource };
  return {
    envelope: envelopeOf(
      stamp,
      "permission.requested",
      { request, permissionDecision: facts.decision },
      sharedWire(facts),
    ),
    columns: columnsOf(stamp, {
      type: "permission.requested",
      subject: record.subject,
      resource,
      origin: { userId, organizationId, sessionKey, taskId },
      requestId: record.id,
      decision: facts.decision,
      code: "approval_required",
    }),
  };
}

export interface ResolvedFacts extends ActionFacts {
  readonly requestId: string;
  readonly resolution: Resolution;
  readonly tuple: Tuple;
  readonly origin: OriginColumns;
  readonly decision: PermissionDecision;
  readonly code: CheckCode | null;
}

export function resolvedEvent(stamp: EventStamp, facts: ResolvedFacts): UnchainedEvent {
  const { tuple, origin, decision } = facts;
  const resource = maskedResource(resourceOfTuple(tuple), stamp.maskingKey);
  return {
    envelope: envelopeOf(
      stamp,
      "permission.resolved",
      {
        requestId: facts.requestId as RequestId,
        resolution: facts.resolution,
        subject: tuple.subject,
        resource,
        origin: originFields(origin),
        permissionDecision: decision,
      },
      sharedWire(facts),
    ),
    columns: columnsOf(stamp, {
      type: "permission.resolved",
      subject: tuple.subject,
      resource,
      origin,
      requestId: facts.requestId,
      decision,
      code: facts.code,
    }),
  };
}

export interface AppliedFacts extends ActionFacts {
  readonly subject: Subject;
  readonly phase: Phase;
  readonly origin: OriginColumns;
}

/** `sandbox.applied`: what stands around a program from now on. */
export function appliedEvent(stamp: EventStamp, facts: AppliedFacts): UnchainedEvent {
  const { subject, phase } = facts;
  const origin = originFields(facts.origin);
  return {
    envelope: envelopeOf(stamp, "sandbox.applied", { subject, phase, origin }, sharedWire(facts)),
    columns: columnsOf(stamp, {
      type: "sandbox.applied",
      subject,
      resource: null,
      origin,
      requestId: null,
      decision: null,
      code: null,
    }),
  };
}

function attemptOf(stamp: EventStamp, { caller, ask, subject }: CheckedFacts) {
  const { access } = ask;
  const resource = isAccess(access)
    ? maskedResource(
        resourceOfTuple({ subject: subject as Subject, ...access, target: access.target.text }),
        stamp.maskingKey,
      )
    : null;
  const asked = ask.requested ?? {
    type: isAccess(access) ? access.resourceType : "",
    operation: isAccess(access) ? access.operation : "",
    target: isAccess(access) ? access.target.requested : "",
  };
  return {
    subject,
    resource,
    requested: {
      type: asked.type.slice(0, 64),
      operation: asked.operation.slice(0, 64),
      target: maskRequested(asked.type, asked.operation, asked.target, stamp.maskingKey),
    },
    origin: originOf(caller),
  };
}

function maskedResource(resource: Resource, key: Uint8Array): Resource {
  const { type, operation, target } = resource;
  return { type, operation, target: maskTarget(type, target, key) } as Resource;
}

interface ColumnFacts {
  readonly type: EventColumns["type"];
  readonly subject: Subject | null;
  readonly resource: Resource | null;
  readonly origin: OriginColumns;
  readonly requestId: string | null;
  readonly decision: PermissionDecision | null;
  readonly code: string | null;
}

/** WHY field by field: objects that are spread into this one would cost more than the rest of an event. */
function columnsOf({ timeMs }: EventStamp, facts: ColumnFacts): EventColumns {
  const { subject, resource, origin, decision } = facts;
  return {
    timeMs,
    type: facts.type,
    subjectType: subject?.type ?? null,
    subjectName: subject?.name ?? null,
    resourceType: resource?.type ?? null,
    operation: resource?.operation ?? null,
    target: resource?.target ?? null,
    organizationId: origin.organizationId,
    userId: origin.userId,
    sessionKey: origin.sessionKey,
    taskId: origin.taskId,
    requestId: facts.requestId,
    decision: decision?.decision ?? null,
    decisionSource: decision?.decisionSource ?? null,
    code: facts.code,
  };
}

/** WHY: a whole row may be given as an origin, and the rest of it has no place in an event. */
function originFields({ userId, organizationId, sessionKey, taskId }: OriginColumns): OriginColumns {
  return { userId, organizationId, sessionKey, taskId };
}

function envelopeOf(
  stamp: EventStamp,
  type: AccessEvent["type"],
  data: object,
  shared: object,
): EventEnvelope {
  const wire = eventWire.format({
    specversion: "1.0",
    id: stamp.id as EventId,
    source: `/nodes/${encodeURIComponent(stamp.nodeId)}`,
    type,
    time: timestampOf(stamp.timeMs),
    datacontenttype: "application/json",
    data,
  } as unknown as AccessEvent);
  return Object.freeze({ ...wire, data: Object.freeze({ ...wire.data, ...shared }) }) as EventEnvelope;
}
