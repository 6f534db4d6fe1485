/**
 * Approvals and denials as they travel. A session approval has a session key and a permanent one has none:
 * the schema is a union over the scope, so that neither can pose as the other.
 */
import { z } from "zod";
import type { ResourceType } from "../resource.ts";
import { MATCHES, type Match } from "../target/pattern.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import {
  actionIdSchema,
  approvalIdSchema,
  denialIdSchema,
  messageSchema,
  organizationIdSchema,
  requestIdSchema,
  sessionKeySchema,
  timestampSchema,
  userIdSchema,
} from "./identifier.ts";
import { resourceSchema } from "./resource.ts";
import { subjectSchema } from "./subject.ts";

/** How far a decision on a resource of this type may reach. */
export const MATCHES_OF: Readonly<Record<ResourceType, readonly Match[]>> = Object.freeze({
  network: ["exact", "any_query", "path_prefix", "origin", "endpoint"],
  filesystem: ["exact", "directory"],
  system_dependency: ["exact"],
});

interface Matched {
  readonly resource: { readonly type: ResourceType };
  readonly match: Match;
}

const matchBelongs = (held: Matched): boolean => MATCHES_OF[held.resource.type].includes(held.match);
export const MATCH_FAULT = {
  path: ["match"],
  error: "must be a match that this resource type has; `exact` always is",
};

const decided = {
  subject: subjectSchema,
  resource: resourceSchema,
  match: z.enum(MATCHES),
  /** The request that was decided; null where the decision was made ahead. */
  request_id: requestIdSchema.nullable(),
  /** The action of the person that is recorded in the audit log. */
  action_id: actionIdSchema,
  decided_by: userIdSchema,
  decided_at: timestampSchema,
  reason: messageSchema.nullable(),
};

const limits = {
  /** The approval is dead at this instant. */
  expires_at: timestampSchema.nullable(),
  /** "Once" is 1. */
  max_uses: z.int().min(1).nullable(),
  uses: z.int().min(0),
};

const USES_FAULT = { path: ["uses"], error: "must be at most `max_uses`" };

export const approvalSchema = z
  .discriminatedUnion("scope", [
    z.strictObject({
      id: approvalIdSchema,
      ...decided,
      scope: z.literal("session"),
      organization_id: organizationIdSchema.nullable(),
      user_id: userIdSchema.nullable(),
      session_key: sessionKeySchema,
      ...limits,
    }),
    z.strictObject({
      id: approvalIdSchema,
      ...decided,
      scope: z.literal("permanent"),
      organization_id: z.null(),
      user_id: z.null(),
      session_key: z.null(),
      ...limits,
    }),
  ])
  .refine(matchBelongs, MATCH_FAULT)
  .refine(({ max_uses: usesMax, uses }) => usesMax === null || uses <= usesMax, USES_FAULT);
export const approvalWire = defineWire(approvalSchema);
export type Approval = WireType<typeof approvalWire>;

/** Without a session: a denial holds in all of them. */
export const denialSchema = z
  .strictObject({ id: denialIdSchema, ...decided })
  .refine(matchBelongs, MATCH_FAULT);
export const denialWire = defineWire(denialSchema);
export type Denial = WireType<typeof denialWire>;
