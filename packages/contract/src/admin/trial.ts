/**
 * Asking without consequence: what would happen to a subject that asked, and why. And the credentials of remote hosts
 * as a person hands them out.
 */
import { z } from "zod";
import { runtimeGrantWire } from "../call/remote-call.ts";
import { PHASES } from "../decision.ts";
import { FILESYSTEM_TARGET_BYTES_MAX } from "../target/filesystem.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import { externalAccessCheckSchema } from "../wire/external-access-check.ts";
import { messageSchema, organizationIdSchema, sessionKeySchema, userIdSchema } from "../wire/identifier.ts";
import { subjectSchema } from "../wire/subject.ts";

export const trialWire = defineWire(
  z.strictObject({
    subject: subjectSchema,
    phase: z.enum(PHASES).exactOptional(),
    /** As a person writes it; normalized by the server. */
    resource: z.strictObject({
      type: z.string().max(64),
      operation: z.string().max(64),
      target: z.string().max(FILESYSTEM_TARGET_BYTES_MAX),
    }),
    /** Whose session approvals count; nobody's unless said. */
    session: z
      .strictObject({
        organization_id: organizationIdSchema.nullable(),
        user_id: userIdSchema.nullable(),
        session_key: sessionKeySchema.nullable(),
      })
      .exactOptional(),
    explain: z.boolean().exactOptional(),
  }),
);
export type Trial = WireType<typeof trialWire>;

export const trialAnswerWire = defineWire(
  z.strictObject({
    /** Nothing was registered, spent or recorded as an attempt. */
    check: externalAccessCheckSchema,
    explanation: z
      .strictObject({
        because: z.string().max(20_000),
        /** Every step that was looked at, in order. */
        steps: z.array(z.string().max(20_000)).max(1000),
        /** What would have allowed it, the narrowest first. */
        remedies: z.array(z.string().max(20_000)).max(100),
      })
      .nullable(),
  }),
);
export type TrialAnswer = WireType<typeof trialAnswerWire>;

export const credentialWordsWire = defineWire(
  z.strictObject({
    grant: runtimeGrantWire.schema,
    /** RFC 7638 thumbprint of the key that the remote host holds. */
    key_thumbprint: z.string().regex(/^[A-Za-z0-9_-]{43}$/, {
      error: "must be an RFC 7638 thumbprint: 43 characters of base64url",
    }),
    reason: messageSchema.exactOptional(),
  }),
);
export type CredentialWords = WireType<typeof credentialWordsWire>;
