/**
 * What is recorded beside the five event classes of checks: changes of policy by persons, and attempts of those who
 * had no authority. Same envelope, same chain; the type tells them apart.
 */
import {
  type AccessEvent,
  type ActionId,
  type EventId,
  type PolicyAction,
  type RequestId,
  eventWire,
} from "@sallyport/contract";
import type { PrincipalId } from "@sallyport/policy";
import type { Json, Tuple } from "@sallyport/store";
import type { EventStamp, UnchainedEvent } from "./access-events.ts";
import { canonical } from "./audit/canonical-json.ts";
import { maskMessage, maskTarget } from "./audit/event-masking.ts";
import type { CallerContext } from "./caller-context.ts";
import { timestampOf } from "./node-clock.ts";

/** What the wire form holds at most. */
const ROLES_MAX = 100;
const ROLE_LENGTH_MAX = 256;
const REASON_LENGTH_MAX = 2000;
const RECORD_LENGTH_MAX = 1_048_576;

export interface PolicyEventFacts {
  readonly type: "policy.changed" | "policy.refused";
  readonly action: PolicyAction;
  readonly actionId: string | null;
  readonly actor: ActorColumns;
  readonly tuple: Tuple | null;
  readonly requestId: string | null;
  readonly reason: string | null;
  /** What it was and is; wire form. */
  readonly before: Json;
  readonly after: Json;
}

/** The acting user as the context gave it. */
export interface ActorColumns {
  readonly organizationId: PrincipalId | null;
  readonly userId: PrincipalId | null;
  readonly roles: readonly string[];
  readonly accessLevel: string | null;
  readonly sessionKey: string | null;
}

export function actorOf(caller: CallerContext): ActorColumns {
  return {
    organizationId: caller.organizationId,
    userId: caller.user?.id ?? null,
    roles: caller.user?.roles ?? [],
    accessLevel: caller.user?.accessLevel ?? null,
    sessionKey: caller.sessionKey === "" ? null : caller.sessionKey,
  };
}

/** The person as rows keep it. */
export function personJson(actor: ActorColumns): Json {
  return { id: actor.userId, roles: actor.roles, access_level: actor.accessLevel };
}

export function policyEvent(stamp: EventStamp, facts: PolicyEventFacts): UnchainedEvent {
  const { actor, tuple } = facts;
  const maskedTarget = shownTarget(tuple, stamp);
  const act = {
    action: facts.action,
    actor: {
      id: actor.userId,
      roles: actor.roles.slice(0, ROLES_MAX).map((role) => role.slice(0, ROLE_LENGTH_MAX)),
      accessLevel: actor.accessLevel?.slice(0, ROLE_LENGTH_MAX) ?? null,
      organizationId: actor.organizationId,
    },
    subject: tuple?.subject ?? null,
    resource:
      tuple === null ? null : { type: tuple.resourceType, operation: tuple.operation, target: maskedTarget },
    requestId: facts.requestId as RequestId | null,
    reason: shownReason(facts.reason, stamp),
  };
  const records = {
    actionId: facts.actionId as ActionId,
    before: recordText(facts.before, stamp),
    after: recordText(facts.after, stamp),
  };
  const envelope = eventWire.format({
    specversion: "1.0",
    id: stamp.id as EventId,
    source: `/nodes/${encodeURIComponent(stamp.nodeId)}`,
    type: facts.type,
    time: timestampOf(stamp.timeMs),
    datacontenttype: "application/json",
    data: facts.type === "policy.changed" ? { ...act, ...records } : act,
  } as unknown as AccessEvent);
  return {
    envelope,
    columns: {
      timeMs: stamp.timeMs,
      type: facts.type,
      subjectType: tuple?.subject.type ?? null,
      subjectName: tuple?.subject.name ?? null,
      resourceType: tuple?.resourceType ?? null,
      operation: tuple?.operation ?? null,
      target: maskedTarget,
      organizationId: actor.organizationId,
      userId: actor.userId,
      sessionKey: actor.sessionKey,
      taskId: null,
      requestId: facts.requestId,
      decision: null,
      decisionSource: null,
      code: facts.type === "policy.refused" ? "permission_error" : facts.action,
    },
  };
}

function shownTarget(tuple: Tuple | null, { maskingKey }: EventStamp): string | null {
  return tuple === null ? null : maskTarget(tuple.resourceType, tuple.target, maskingKey);
}

function shownReason(reason: string | null, { maskingKey }: EventStamp): string | null {
  const shown = reason === null ? "" : maskMessage(reason, maskingKey).slice(0, REASON_LENGTH_MAX);
  return shown === "" ? null : shown;
}

function recordText(value: Json, { maskingKey }: EventStamp): string | null {
  if (value === null) return null;
  const text = canonical(masked(value, maskingKey));
  return text.length <= RECORD_LENGTH_MAX ? text : canonical({ too_long: text.length });
}

/** Every text of a wire value with its credentials hidden. */
function masked(value: Json, key: Uint8Array): Json {
  if (typeof value === "string") return maskMessage(value, key);
  if (Array.isArray(value)) return (value as readonly Json[]).map((member) => masked(member, key));
  if (typeof value !== "object" || value === null) return value;
  const held = value as { readonly [key: string]: Json | undefined };
  const shown: (readonly [string, Json])[] = [];
  for (const name of Object.keys(held)) {
    const member = held[name];
    if (member !== undefined) shown.push([name, masked(member, key)]);
  }
  return Object.fromEntries(shown);
}
