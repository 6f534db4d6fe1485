/**
 * What runs: resume jobs, sessions, registered manifests, permission state, sandbox profiles.
 */
import { z } from "zod";
import { PHASES } from "../decision.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import {
  approvalIdSchema,
  messageSchema,
  organizationIdSchema,
  requestIdSchema,
  sessionKeySchema,
  timestampSchema,
  userIdSchema,
} from "../wire/identifier.ts";
import { originSchema } from "../wire/origin.ts";
import { permissionStateSchema, sandboxProfileSchema } from "../wire/permission-facts.ts";
import { accessRuleSchema } from "../wire/resource.ts";
import { subjectSchema } from "../wire/subject.ts";
import { pageSchema } from "./admin-page.ts";
import { freezeViewWire, modeViewWire } from "./policy-view.ts";

export const JOB_VIEW_STATES = ["ready", "leased", "done", "parked"] as const;

const jobViewSchema = z.strictObject({
  id: z.string().min(1).max(128),
  request_id: requestIdSchema,
  approval_id: approvalIdSchema,
  action: z.string().max(256),
  /** The module that registered the action; empty where it is not known. */
  owner_module: z.string().max(256),
  state: z.enum(JOB_VIEW_STATES),
  attempts: z.int().min(0),
  next_at: timestampSchema,
  last_error: z.string().max(10_000).nullable(),
  created_at: timestampSchema,
  finished_at: timestampSchema.nullable(),
});
export type JobView = WireType<{ readonly schema: typeof jobViewSchema }>;
export const jobPageWire = defineWire(pageSchema(jobViewSchema));

const keyedSession = {
  organization_id: organizationIdSchema.nullable(),
  user_id: userIdSchema.nullable(),
  session_key: sessionKeySchema,
};
export const sessionWordsWire = defineWire(z.strictObject(keyedSession));
export type SessionWords = WireType<typeof sessionWordsWire>;

const sessionViewSchema = z.strictObject({
  ...keyedSession,
  approvals: z.int().min(0),
  pending: z.int().min(0),
  last_seen: timestampSchema,
});
export type SessionView = WireType<{ readonly schema: typeof sessionViewSchema }>;
/** Sessions that hold something: an approval, or a request that waits. */
export const sessionPageWire = defineWire(pageSchema(sessionViewSchema));

const manifestViewSchema = z.strictObject({
  subject: subjectSchema,
  phase: z.enum(PHASES),
  access: z.array(accessRuleSchema).max(10_000),
  allowed_imports: z.array(z.string().max(256)).max(1000),
  /** Where the manifest came from, for people. */
  source: z.string().max(4096).nullable(),
});
export type ManifestView = WireType<{ readonly schema: typeof manifestViewSchema }>;
export const manifestPageWire = defineWire(pageSchema(manifestViewSchema));

export const permissionStateViewWire = defineWire(
  z.strictObject({
    state: permissionStateSchema,
    mode: modeViewWire.schema,
    freeze: freezeViewWire.schema,
    live: z.boolean(),
    revision: z.int().min(0),
    pending: z.int().min(0),
  }),
);
export type PermissionStateView = WireType<typeof permissionStateViewWire>;

const profileViewSchema = z.strictObject({
  subject: subjectSchema,
  phase: z.enum(PHASES),
  origin: originSchema,
  applied_at: timestampSchema,
  profile: sandboxProfileSchema,
});
export type ProfileView = WireType<{ readonly schema: typeof profileViewSchema }>;
export const profilePageWire = defineWire(pageSchema(profileViewSchema));

/** Left out or empty: it worked. */
export const doneWire = defineWire(z.strictObject({ message: messageSchema.exactOptional() }));
