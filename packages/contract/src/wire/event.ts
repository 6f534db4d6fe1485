/**
 * Events as CloudEvents 1.0 with typed data. The envelope's own `subject` attribute is not used: it is one text,
 * and the identity of a subject is two fields, which the data holds.
 */
import { z } from "zod";
import { CHECK_CODES, type CheckCode, PHASES } from "../decision.ts";
import { NETWORK_TARGET_BYTES_MAX } from "../target/network.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import {
  HOST_ID_LENGTH_MAX,
  actionIdSchema,
  eventIdSchema,
  messageSchema,
  organizationIdSchema,
  requestIdSchema,
  timestampSchema,
  userIdSchema,
} from "./identifier.ts";
import { originSchema } from "./origin.ts";
import { ATTESTERS, requestRecordSchema } from "./pending-request.ts";
import { permissionDecisionSchema, permissionStateSchema, sandboxProfileSchema } from "./permission-facts.ts";
import { requestedResourceSchema, resourceSchema } from "./resource.ts";
import { subjectChainSchema, subjectSchema } from "./subject.ts";

export const RESOLUTIONS = ["allowed", "denied", "timed_out", "cancelled"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** What a person with authority does, and what the host itself puts on record. */
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
  "retain_events",
  "set_freeze",
  "set_account",
  "set_own_password",
  "sign_in",
  "issue_credential",
  "revoke_credential",
  "issue_token",
  "revoke_token",
  "retry_delivery",
  "give_up_delivery",
  "list",
] as const;
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

const facts = {
  permission_state: permissionStateSchema,
  permission_decision: permissionDecisionSchema,
  sandbox_profile: sandboxProfileSchema,
};

/** What was attempted. Null where there is no subject, or where the target could not be normalized. */
const attempt = {
  subject: subjectSchema.nullable(),
  subject_chain: subjectChainSchema,
  resource: resourceSchema.nullable(),
  requested: requestedResourceSchema,
  origin: originSchema,
};

const roleName = z.string().max(HOST_ID_LENGTH_MAX);
const ROLES_MAX = 100;
const RECORD_LENGTH_MAX = 1_048_576;

/** A person's act on policy. The context's user, whatever it held: an attempt may come from nobody. */
const act = {
  action: z.enum(POLICY_ACTIONS),
  actor: z.strictObject({
    id: userIdSchema.nullable(),
    roles: z.array(roleName).max(ROLES_MAX),
    access_level: roleName.nullable(),
    organization_id: organizationIdSchema.nullable(),
  }),
  subject: subjectSchema.nullable(),
  /** WHY not a normalized one: a rule's target may be a pattern. */
  resource: requestedResourceSchema.nullable(),
  request_id: requestIdSchema.nullable(),
  reason: messageSchema.nullable(),
};

/** WHY text: what was changed has many forms, and a record of it is never read back by a program. */
const recordText = z.string().min(1).max(RECORD_LENGTH_MAX).nullable();

/**
 * Where an allowed network access goes: the endpoint that is dialled, with its address where that is known, or the
 * unix socket.
 */
const observedTarget = z.string().min(1).max(NETWORK_TARGET_BYTES_MAX);

/** Repeats of one event become one row with a count. */
const counted = z.int().min(1);

export const EVENT_DATA = {
  "permission.evaluated": z.strictObject({
    ...attempt,
    code: z.enum(Object.keys(CHECK_CODES) as [CheckCode, ...CheckCode[]]),
    attested_by: z.enum(ATTESTERS),
    count: counted,
    observed_target: observedTarget.exactOptional(),
    ...facts,
  }),
  "permission.requested": z.strictObject({ request: requestRecordSchema, ...facts }),
  /** A caller whose wait timed out has its own event; the request itself stays pending. */
  "permission.resolved": z.strictObject({
    request_id: requestIdSchema,
    resolution: z.enum(RESOLUTIONS),
    subject: subjectSchema,
    resource: resourceSchema,
    origin: originSchema,
    ...facts,
  }),
  "sandbox.applied": z.strictObject({
    subject: subjectSchema,
    phase: z.enum(PHASES),
    origin: originSchema,
    permission_state: permissionStateSchema,
    sandbox_profile: sandboxProfileSchema,
  }),
  /** A blocked real operation; explicit checks and plain tool failures are none. */
  "sandbox.violation": z.strictObject({
    ...attempt,
    attested_by: z.enum(ATTESTERS).exclude(["service"]),
    count: counted,
    ...facts,
  }),
  /** What it was and is: canonical JSON of the rows, credentials masked; null where there was nothing. */
  "policy.changed": z.strictObject({
    ...act,
    action_id: actionIdSchema,
    before: recordText,
    after: recordText,
  }),
  /** Somebody without authority tried. */
  "policy.refused": z.strictObject(act),
} as const;

export type EventType = keyof typeof EVENT_DATA;

function envelope<Type extends string, Data extends z.ZodType>(type: Type, data: Data) {
  return z.strictObject({
    specversion: z.literal("1.0"),
    id: eventIdSchema,
    /** URI reference of the node that recorded the event. */
    source: z
      .string()
      .min(1)
      .max(512)
      .regex(/^[\x21-\x7e]+$/, { error: "must be a URI reference" }),
    type: z.literal(type),
    time: timestampSchema,
    datacontenttype: z.literal("application/json"),
    data,
  });
}

export const permissionEvaluatedWire = defineWire(
  envelope("permission.evaluated", EVENT_DATA["permission.evaluated"]),
);
export const permissionRequestedWire = defineWire(
  envelope("permission.requested", EVENT_DATA["permission.requested"]),
);
export const permissionResolvedWire = defineWire(
  envelope("permission.resolved", EVENT_DATA["permission.resolved"]),
);
export const sandboxAppliedWire = defineWire(envelope("sandbox.applied", EVENT_DATA["sandbox.applied"]));
export const sandboxViolationWire = defineWire(
  envelope("sandbox.violation", EVENT_DATA["sandbox.violation"]),
);
export const policyChangedWire = defineWire(envelope("policy.changed", EVENT_DATA["policy.changed"]));
export const policyRefusedWire = defineWire(envelope("policy.refused", EVENT_DATA["policy.refused"]));

/** Any of them: five classes of checks and requests, two of policy. */
export const eventWire = defineWire(
  z.discriminatedUnion("type", [
    permissionEvaluatedWire.schema,
    permissionRequestedWire.schema,
    permissionResolvedWire.schema,
    sandboxAppliedWire.schema,
    sandboxViolationWire.schema,
    policyChangedWire.schema,
    policyRefusedWire.schema,
  ]),
);
export type AccessEvent = WireType<typeof eventWire>;
