/**
 * Pending requests. The wire form begins with the four keys subject, resource, origin and resume; everything
 * that the service adds may be missing, and what is missing stays missing when it is formatted again.
 * A request record is the same with all of it present: what the service stores and publishes.
 */
import { z } from "zod";
import { PERMISSION_MODES } from "../decision.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import { digestSchema, requestIdSchema, timestampSchema } from "./identifier.ts";
import { originSchema, resumeSchema } from "./origin.ts";
import { destructiveFactsShape } from "./permission-facts.ts";
import { resourceSchema } from "./resource.ts";
import { subjectChainSchema, subjectSchema } from "./subject.ts";

/** Who saw the attempt. */
export const ATTESTERS = ["service", "guard", "kernel", "gateway"] as const;
export type Attester = (typeof ATTESTERS)[number];

export const REQUEST_STATUSES = [
  "pending",
  "approved_session",
  "approved_permanent",
  "denied",
  "expired",
  "cancelled",
] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

const core = { subject: subjectSchema, resource: resourceSchema, origin: originSchema };

const record = {
  id: requestIdSchema,
  resume: resumeSchema,
  subject_chain: subjectChainSchema,
  mode: z.enum(PERMISSION_MODES),
  ...destructiveFactsShape,
  attested_by: z.enum(ATTESTERS),
  status: z.enum(REQUEST_STATUSES),
  count: z.int().min(1),
  first_seen: timestampSchema,
  last_seen: timestampSchema,
  /** Of what an approver was shown: tuple, origin, chain, continuations. A decision by id carries it. */
  digest: digestSchema,
};

export const requestRecordSchema = z.strictObject({ ...core, ...record });
export const requestRecordWire = defineWire(requestRecordSchema);
export type RequestRecord = WireType<typeof requestRecordWire>;

export const pendingRequestSchema = z.strictObject({
  ...core,
  id: record.id.exactOptional(),
  resume: record.resume.exactOptional(),
  subject_chain: record.subject_chain.exactOptional(),
  mode: record.mode.exactOptional(),
  destructive: record.destructive.exactOptional(),
  impact_scope: record.impact_scope.exactOptional(),
  rollback_advice: record.rollback_advice.exactOptional(),
  decision_source: record.decision_source.exactOptional(),
  attested_by: record.attested_by.exactOptional(),
  status: record.status.exactOptional(),
  count: record.count.exactOptional(),
  first_seen: record.first_seen.exactOptional(),
  last_seen: record.last_seen.exactOptional(),
  digest: record.digest.exactOptional(),
});
export const pendingRequestWire = defineWire(pendingRequestSchema);
export type PendingRequest = WireType<typeof pendingRequestWire>;
