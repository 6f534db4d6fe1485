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
  type PermissionState,
  type PolicySource,
  type Resolution,
  type Resource,
  type RequestId,
  type RequestRecord,
  type SandboxProfile,
  type Subject,
  type SubjectFrame,
  eventWire,
} from "@sallyport/contract";
import type { Context } from "@sallyport/policy";
import type { EventRow, OriginColumns, Tuple } from "@sallyport/store";
import type { EventEnvelope } from "./audit/event-chain.ts";
import { maskTarget } from "./audit/event-masking.ts";
import { type Ask, type CallerContext, isAccess, originOf } from "./caller-context.ts";
import type { HeldFacts } from "./held-facts.ts";
import { observedTarget } from "./observed-target.ts";
import { timestampOf } from "./node-clock.ts";
import { resourceOfTuple } from "./policy-rows.ts";

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

export interface ActionFacts {
  readonly permissionState: PermissionState;
  readonly sandboxProfile: SandboxProfile;
}

const RULES_MAX = 1000;

export function actionFacts(caller: CallerContext, context: Context, facts: HeldFacts): ActionFacts {
  const policySources: PolicySource[] = ["builtin", "manifest", "approval", ...facts.ruleSources];
  const rules: string[] = [];
  for (const id of facts.ruleIds) if (rules.push(id) === RULES_MAX) break;
  return {
    permissionState: {
      mode: context.mode,
      rules: rules as unknown as PermissionState["rules"],
      policySources,
      interactive: caller.interactive,
    },
    sandboxProfile: caller.sandboxProfile ?? NO_SANDBOX,
  };
}

const NO_SANDBOX: SandboxProfile = Object.freeze<SandboxProfile>({
  mode: "none",
  platform: process.platform,
  cwd: "/",
  readRoots: [],
  writeRoots: [],
  network: { access: "open", forwardedPorts: [] },
  environmentRef: null,
  processLimits: { processesMax: null, openFilesMax: null, memoryBytesMax: null, cpuSecondsMax: null },
  violationRefs: [],
  enforcedBy: [],
  notEnforced: [],
});

export function chainOf(caller: CallerContext): readonly SubjectFrame[] {
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
    permissionState: facts.permissionState,
    permissionDecision: check.decision,
    sandboxProfile: facts.sandboxProfile,
  };
  return {
    envelope: envelopeOf(stamp, isViolation ? "sandbox.violation" : "permission.evaluated", data),
    columns: {
      timeMs: stamp.timeMs,
      type: isViolation ? "sandbox.violation" : "permission.evaluated",
      ...columnsOf(facts.subject, attempt.resource),
      ...originOf(facts.caller),
      requestId: check.requestId ?? null,
      ...decisionColumns(check.decision, check.code),
    },
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
  const { userId, organizationId, sessionKey, taskId } = record.origin;
  return {
    envelope: envelopeOf(stamp, "permission.requested", {
      request: { ...record, resource },
      permissionState: facts.permissionState,
      permissionDecision: facts.decision,
      sandboxProfile: facts.sandboxProfile,
    }),
    columns: {
      timeMs: stamp.timeMs,
      type: "permission.requested",
      ...columnsOf(record.subject, resource),
      organizationId: organizationId ?? null,
      userId: userId ?? null,
      sessionKey: sessionKey ?? null,
      taskId: taskId ?? null,
      requestId: record.id,
      ...decisionColumns(facts.decision, "approval_required"),
    },
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
    envelope: envelopeOf(stamp, "permission.resolved", {
      requestId: facts.requestId as RequestId,
      resolution: facts.resolution,
      subject: tuple.subject,
      resource,
      origin: originFields(origin),
      permissionState: facts.permissionState,
      permissionDecision: decision,
      sandboxProfile: facts.sandboxProfile,
    }),
    columns: {
      timeMs: stamp.timeMs,
      type: "permission.resolved",
      ...columnsOf(tuple.subject, resource),
      ...originFields(origin),
      requestId: facts.requestId,
      ...decisionColumns(decision, facts.code),
    },
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
    subjectChain: chainOf(caller),
    resource,
    requested: {
      type: asked.type.slice(0, 64),
      operation: asked.operation.slice(0, 64),
      target: maskTarget(asked.type, asked.target, stamp.maskingKey),
    },
    origin: originOf(caller),
  };
}

function maskedResource(resource: Resource, key: Uint8Array): Resource {
  return { ...resource, target: maskTarget(resource.type, resource.target, key) };
}

function columnsOf(subject: Subject | null, resource: Resource | null) {
  return {
    subjectType: subject?.type ?? null,
    subjectName: subject?.name ?? null,
    resourceType: resource?.type ?? null,
    operation: resource?.operation ?? null,
    target: resource?.target ?? null,
  };
}

/** WHY: a whole row may be given as an origin, and the rest of it has no place in an event. */
function originFields({ userId, organizationId, sessionKey, taskId }: OriginColumns): OriginColumns {
  return { userId, organizationId, sessionKey, taskId };
}

function decisionColumns(decision: PermissionDecision, code: string | null) {
  return { decision: decision.decision, decisionSource: decision.decisionSource, code };
}

function envelopeOf(stamp: EventStamp, type: AccessEvent["type"], data: object): EventEnvelope {
  return eventWire.format({
    specversion: "1.0",
    id: stamp.id as EventId,
    source: `/nodes/${encodeURIComponent(stamp.nodeId)}`,
    type,
    time: timestampOf(stamp.timeMs),
    datacontenttype: "application/json",
    data,
  } as unknown as AccessEvent);
}
