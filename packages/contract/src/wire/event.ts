/**
 * Events as CloudEvents 1.0 with typed data. The envelope's own `subject` attribute is not used: it is one text,
 * and the identity of a subject is two fields, which the data holds.
 */
import { z } from "zod";
import { CHECK_CODES, type CheckCode, PHASES } from "../decision.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import { eventIdSchema, requestIdSchema, timestampSchema } from "./identifier.ts";
import { originSchema } from "./origin.ts";
import { ATTESTERS, requestRecordSchema } from "./pending-request.ts";
import { permissionDecisionSchema, permissionStateSchema, sandboxProfileSchema } from "./permission-facts.ts";
import { requestedResourceSchema, resourceSchema } from "./resource.ts";
import { subjectChainSchema, subjectSchema } from "./subject.ts";

export const RESOLUTIONS = ["allowed", "denied", "timed_out", "cancelled"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

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

/** Repeats of one event become one row with a count. */
const counted = z.int().min(1);

export const EVENT_DATA = {
  "permission.evaluated": z.strictObject({
    ...attempt,
    code: z.enum(Object.keys(CHECK_CODES) as [CheckCode, ...CheckCode[]]),
    attested_by: z.enum(ATTESTERS),
    count: counted,
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

/** Any of the five. */
export const eventWire = defineWire(
  z.discriminatedUnion("type", [
    permissionEvaluatedWire.schema,
    permissionRequestedWire.schema,
    permissionResolvedWire.schema,
    sandboxAppliedWire.schema,
    sandboxViolationWire.schema,
  ]),
);
export type AccessEvent = WireType<typeof eventWire>;
