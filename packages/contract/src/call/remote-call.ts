/**
 * The calls of `AccessPolicy` as they travel between a remote host and its server. What a remote host says about
 * itself only narrows: who it is for, and in which session, stands in its credential and has no place here.
 * A resume context travels as JSON text, because its keys are the caller's own and are never respelled.
 */
import { z } from "zod";
import { PERMISSION_MODES, PHASES } from "../decision.ts";
import { FAULT_CODES } from "../parsed.ts";
import { FILESYSTEM_TARGET_BYTES_MAX } from "../target/filesystem.ts";
import { MATCHES } from "../target/pattern.ts";
import { approvalSchema, denialSchema } from "../wire/approval.ts";
import { REFUSAL_CODES } from "./decision-words.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import {
  MESSAGE_LENGTH_MAX,
  messageSchema,
  organizationIdSchema,
  requestIdSchema,
  sessionKeySchema,
  taskIdSchema,
  userIdSchema,
} from "../wire/identifier.ts";
import { snapshotJson } from "../wire/json-value.ts";
import { REQUEST_STATUSES } from "../wire/pending-request.ts";
import { permissionStateSchema, sandboxProfileSchema } from "../wire/permission-facts.ts";
import { requestedResourceSchema, resourceSchema } from "../wire/resource.ts";
import { FRAME_ENTRIES, SUBJECT_CHAIN_LENGTH_MAX, subjectSchema } from "../wire/subject.ts";

export {
  CALL_SESSION_SCHEME,
  type CallWords,
  callSessionInfo,
  callSessionMacInput,
  openSessionWire,
  openedSessionWire,
} from "./call-session.ts";
export {
  LENT_JOBS_MAX,
  OFFERED_ACTIONS_MAX,
  lendJobsWire,
  lentJobsWire,
  settleJobWire,
  settledJobWire,
} from "./remote-job.ts";

/** The longest that a timer can count. */
export const REMOTE_WAIT_MAX_MS = 2 ** 31 - 1;
export const REMOTE_ALIASES_MAX = 64;
const HOST_TEXT_MAX = 260;
const TOKEN_LENGTH_MAX = 16_384;

/** A subject in one phase: what a credential may act as. */
const actingSchema = z.strictObject({ subject: subjectSchema, phase: z.enum(PHASES) });

/** What a credential of guarded code is bound to. No roles: it asks for a user and never acts with that user's power. */
export const runtimeGrantWire = defineWire(
  z.strictObject({
    subjects: z
      .array(actingSchema)
      .min(1)
      .max(SUBJECT_CHAIN_LENGTH_MAX)
      .refine((acting) => acting.every(({ subject }) => subject.type !== "core"), {
        error: "must not hold `core:core`: a credential is for guarded code",
      }),
    user_id: userIdSchema.nullable(),
    organization_id: organizationIdSchema.nullable(),
    session_key: sessionKeySchema.nullable(),
    /** `null`: the remote host says which task it works on. */
    task_id: taskIdSchema.nullable(),
    interactive: z.boolean(),
  }),
);
export type RuntimeGrant = WireType<typeof runtimeGrantWire>;

/** A level of the chain by name: `host` for what the credential may act as, `guarded` for what was made up. */
const remoteFrameSchema = z.strictObject({
  subject: subjectSchema,
  phase: z.enum(PHASES),
  entry: z.enum(FRAME_ENTRIES),
});
export type RemoteFrame = WireType<{ readonly schema: typeof remoteFrameSchema }>;

const standing = {
  chain: z.array(remoteFrameSchema).max(SUBJECT_CHAIN_LENGTH_MAX),
  task_id: taskIdSchema.nullable(),
  /** `false` only: a credential that may not wait cannot wait by saying so. */
  interactive: z.boolean(),
};

const waitSchema = z.strictObject({ timeout_ms: z.number().min(0).max(REMOTE_WAIT_MAX_MS) });

const askShape = {
  ...standing,
  access: z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("access"),
      resource: resourceSchema,
      /** As it was written, for the record. */
      requested: z.string().max(FILESYSTEM_TARGET_BYTES_MAX),
    }),
    z.strictObject({
      kind: z.literal("fault"),
      code: z.enum(FAULT_CODES),
      field: z.string().max(64),
      message: messageSchema,
    }),
  ]),
  requested: requestedResourceSchema.exactOptional(),
  address: z.string().max(HOST_TEXT_MAX).exactOptional(),
  aliases: z.array(z.string().max(HOST_TEXT_MAX)).max(REMOTE_ALIASES_MAX).exactOptional(),
  twin: resourceSchema.exactOptional(),
  named: subjectSchema.exactOptional(),
  wait: waitSchema.exactOptional(),
  /** The kernel and the gateway do not speak with a credential of guarded code. */
  attested_by: z.enum(["service", "guard"]),
  enforced: z.boolean(),
  exists: z.boolean().exactOptional(),
};

export const remoteCheckWire = defineWire(
  z.strictObject({ ...askShape, register_request: z.boolean().exactOptional() }),
);
export type RemoteCheck = WireType<typeof remoteCheckWire>;

export const remoteRequireWire = defineWire(
  z.strictObject({
    ...askShape,
    resume_action: z.string().max(256).exactOptional(),
    /** JSON text; the service holds it to 16 KiB. */
    resume_context: z.string().max(131_072).exactOptional(),
  }),
);
export type RemoteRequire = WireType<typeof remoteRequireWire>;

export const remoteWaitWire = defineWire(
  z.strictObject({ ...standing, request_id: requestIdSchema, wait: waitSchema }),
);

export const waitAnswerWire = defineWire(
  z.strictObject({
    outcome: z.enum(["allowed", "denied", "timed_out", "cancelled", "not_found", "not_interactive"]),
  }),
);

export const remoteStateWire = defineWire(z.strictObject(standing));

/** `null`: nobody acts, or not as whom the call says. */
export const stateAnswerWire = defineWire(z.strictObject({ state: permissionStateSchema.nullable() }));

/** What a child may know of itself. Nothing of the user, the organization, the session key or the contracts. */
export const callerFactsWire = defineWire(
  z.strictObject({
    chain: z.array(remoteFrameSchema).max(SUBJECT_CHAIN_LENGTH_MAX),
    has_session: z.boolean(),
    task_id: taskIdSchema.nullable(),
    interactive: z.boolean(),
    mode: z.enum(PERMISSION_MODES).nullable(),
    sandbox_profile: sandboxProfileSchema.nullable(),
  }),
);
export type CallerFacts = WireType<typeof callerFactsWire>;

export const remoteDecisionWire = defineWire(
  z.strictObject({
    by: z.discriminatedUnion("kind", [
      z.strictObject({
        kind: z.literal("request"),
        request_id: requestIdSchema,
        digest: z.string().max(256),
      }),
      z.strictObject({
        kind: z.literal("access"),
        subject: subjectSchema,
        resource: resourceSchema,
        session: z
          .strictObject({
            organization_id: organizationIdSchema.nullable(),
            user_id: userIdSchema.nullable(),
            session_key: sessionKeySchema.nullable(),
          })
          .exactOptional(),
      }),
    ]),
    words: z.strictObject({
      widen: z
        .strictObject({ match: z.enum(MATCHES), target: z.string().max(FILESYSTEM_TARGET_BYTES_MAX) })
        .exactOptional(),
      reason: z.string().max(MESSAGE_LENGTH_MAX).exactOptional(),
      expires_at_ms: z.number().nullable().exactOptional(),
      max_uses: z.number().nullable().exactOptional(),
      session_key: z.string().max(256).exactOptional(),
    }),
  }),
);
export type RemoteDecision = WireType<typeof remoteDecisionWire>;

export const decisionWire = defineWire(
  z.discriminatedUnion("ok", [
    z.strictObject({
      ok: z.literal(true),
      kind: z.enum(["approve_for_session", "approve_permanently", "deny", "block"]),
      request_id: requestIdSchema.nullable(),
      approval: approvalSchema.nullable(),
      denial: denialSchema.nullable(),
      rule_id: z.string().nullable(),
      settled: z.array(z.string()),
      jobs: z.int().min(0),
      revision: z.int().min(0),
      repeated: z.boolean(),
    }),
    z.strictObject({
      ok: z.literal(false),
      code: z.enum(REFUSAL_CODES),
      message: messageSchema,
      decided_by: z.union([z.number(), z.string()]).nullable().exactOptional(),
      status: z.enum(REQUEST_STATUSES).exactOptional(),
    }),
  ]),
);

/** A credential as its holder gets it. The key that it is bound to never travels. */
export const issuedCredentialWire = defineWire(
  z.strictObject({
    token: z.string().min(1).max(TOKEN_LENGTH_MAX),
    /** Names the credential and everything it is renewed into; for revoking. */
    credential_id: z.string().min(1).max(128),
    expires_at_ms: z.int(),
    /** No renewal goes past it. */
    ends_at_ms: z.int(),
  }),
);
export type IssuedCredential = WireType<typeof issuedCredentialWire>;

/** The text of plain JSON; `undefined` for what is none. */
export function plainJsonText(value: unknown): string | undefined {
  const snapshot = snapshotJson(value);
  return snapshot.ok ? JSON.stringify(snapshot.value) : undefined;
}
