/**
 * Credentials of remote hosts as they were handed out by persons. The token itself is told once, when it is issued.
 */
import { z } from "zod";
import { PHASES } from "../decision.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import { organizationIdSchema, sessionKeySchema, timestampSchema, userIdSchema } from "../wire/identifier.ts";
import { SUBJECT_CHAIN_LENGTH_MAX, subjectSchema } from "../wire/subject.ts";
import { pageSchema } from "./admin-page.ts";

/** `live`: it can be used and renewed. `ended`: its time is over. */
export const CREDENTIAL_STATES = ["live", "revoked", "ended"] as const;

const credentialViewSchema = z.strictObject({
  credential_id: z.string().min(1).max(128),
  subjects: z
    .array(z.strictObject({ subject: subjectSchema, phase: z.enum(PHASES) }))
    .max(SUBJECT_CHAIN_LENGTH_MAX),
  user_id: userIdSchema.nullable(),
  organization_id: organizationIdSchema.nullable(),
  session_key: sessionKeySchema.nullable(),
  /** Of the holder's key; empty where an older version did not keep it. */
  key_thumbprint: z.string().max(64),
  issued_by: userIdSchema.nullable(),
  issued_at: timestampSchema,
  /** With all its renewals. */
  ends_at: timestampSchema,
  state: z.enum(CREDENTIAL_STATES),
});
export type CredentialView = WireType<{ readonly schema: typeof credentialViewSchema }>;
export const credentialPageWire = defineWire(pageSchema(credentialViewSchema));
