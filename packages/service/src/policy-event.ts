/**
 * What is recorded beside the five event classes of checks: changes of policy by persons, and attempts of those who
 * had no authority. Same envelope, same chain; the type tells them apart.
 */
import type { PrincipalId } from "@sallyport/policy";
import type { Json, Tuple } from "@sallyport/store";
import type { EventStamp, UnchainedEvent } from "./access-events.ts";
import type { EventEnvelope } from "./audit/event-chain.ts";
import { maskMessage, maskTarget } from "./audit/event-masking.ts";
import type { CallerContext } from "./caller-context.ts";
import { timestampOf } from "./node-clock.ts";

export const POLICY_ACTIONS = [
  "approve_for_session",
  "approve_permanently",
  "deny",
  "block",
  "revoke_approval",
  "revoke_denial",
  "set_rule",
  "remove_rule",
  "set_mode",
  "end_session",
  "complete_setup",
  "retry_resume",
  "list",
] as const;
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

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
  const { actor, tuple, maskedTarget } = { ...facts, maskedTarget: shownTarget(facts.tuple, stamp) };
  const resource =
    tuple === null ? null : { type: tuple.resourceType, operation: tuple.operation, target: maskedTarget };
  const envelope = {
    specversion: "1.0",
    id: stamp.id,
    source: `/nodes/${encodeURIComponent(stamp.nodeId)}`,
    type: facts.type,
    time: timestampOf(stamp.timeMs),
    datacontenttype: "application/json",
    data: {
      action: facts.action,
      action_id: facts.actionId,
      actor: { ...(personJson(actor) as object), organization_id: actor.organizationId },
      subject: tuple?.subject ?? null,
      resource,
      request_id: facts.requestId,
      reason: facts.reason === null ? null : maskMessage(facts.reason, stamp.maskingKey),
      before: masked(facts.before, stamp.maskingKey),
      after: masked(facts.after, stamp.maskingKey),
    },
  };
  return {
    envelope: envelope as unknown as EventEnvelope,
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

/** Every text of a wire value with its credentials hidden. */
function masked(value: Json, key: Uint8Array): Json {
  if (typeof value === "string") return maskMessage(value, key);
  if (Array.isArray(value)) return (value as readonly Json[]).map((member) => masked(member, key));
  if (typeof value !== "object" || value === null) return value;
  const held = value as { readonly [key: string]: Json | undefined };
  return Object.fromEntries(
    Object.entries(held).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, masked(member, key)]],
    ),
  );
}
