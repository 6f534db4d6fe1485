/**
 * Requests as an approver sees them: the record, when it ends, who decided, and what helps to decide.
 * Targets are masked as they are everywhere; a decision names the request and its digest, never the text that was shown.
 */
import { z } from "zod";
import { MATCHES } from "../target/pattern.ts";
import { PERMISSION_MODES, DECISION_SOURCES } from "../decision.ts";
import { FILESYSTEM_TARGET_BYTES_MAX } from "../target/filesystem.ts";
import { approvalSchema } from "../wire/approval.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import {
  approvalIdSchema,
  messageSchema,
  refListSchema,
  timestampSchema,
  userIdSchema,
} from "../wire/identifier.ts";
import { requestRecordSchema } from "../wire/pending-request.ts";
import { pageSchema } from "./admin-page.ts";

const requestViewSchema = requestRecordSchema.extend({
  /** Nobody can decide it after this. */
  expires_at: timestampSchema,
  decided_by: userIdSchema.nullable(),
  decided_at: timestampSchema.nullable(),
  decision_reason: messageSchema.nullable(),
  approval_id: approvalIdSchema.nullable(),
});
export const requestViewWire = defineWire(requestViewSchema);
/** A `RequestRecord` with what became of it. */
export type RequestView = WireType<typeof requestViewWire>;
export const requestPageWire = defineWire(pageSchema(requestViewSchema));

const shownTarget = z.string().max(FILESYSTEM_TARGET_BYTES_MAX);

const wideningSchema = z.strictObject({
  /** What a decision carries as `widen.target`. */
  target: shownTarget,
  match: z.enum(MATCHES),
  label: messageSchema,
  /** Reaches far beyond the request: needs a second step. */
  wide: z.boolean(),
  covers: z.array(shownTarget).max(100),
  not: z.array(shownTarget).max(100),
});
export type WideningView = WireType<{ readonly schema: typeof wideningSchema }>;

/** Why a grant that looks as if it covered the request does not. */
export const NEAR_MISSES = [
  "other_operation",
  "other_target",
  "other_session",
  "other_user",
  "expired",
  "used_up",
] as const;
export type NearMissReason = (typeof NEAR_MISSES)[number];

const nearMissSchema = z.strictObject({
  approval: approvalSchema,
  why: z.enum(NEAR_MISSES),
  /** For people: "asked again because …". */
  message: messageSchema,
});
export type NearMiss = WireType<{ readonly schema: typeof nearMissSchema }>;

export const requestDetailWire = defineWire(
  z.strictObject({
    request: requestViewSchema,
    /** As it was written, before it was normalized; masked. */
    target_requested: shownTarget,
    /** From narrow to wide; the first is exact. Empty where nothing can be approved. */
    widenings: z.array(wideningSchema).max(100),
    asked: z.strictObject({
      mode: z.enum(PERMISSION_MODES),
      decision_source: z.enum(DECISION_SOURCES),
      rule_refs: refListSchema,
      /** In the words of the event that was recorded when it was asked for; `null` where that is gone. */
      reason: messageSchema.nullable(),
    }),
    near_misses: z.array(nearMissSchema).max(20),
    /** What the subject has been granted already, newest first. */
    granted: z.array(approvalSchema).max(50),
  }),
);
export type RequestDetail = WireType<typeof requestDetailWire>;
