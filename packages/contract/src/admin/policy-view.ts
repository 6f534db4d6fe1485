/**
 * What stands: approvals, denials, rules, the mode, the freeze; and the answers of calls that change them.
 */
import { z } from "zod";
import { PERMISSION_MODES, RULE_EFFECTS, RULE_SOURCES } from "../decision.ts";
import { approvalSchema, denialSchema } from "../wire/approval.ts";
import { REFUSAL_CODES } from "../call/decision-words.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import {
  messageSchema,
  organizationIdSchema,
  ruleIdSchema,
  sessionKeySchema,
  timestampSchema,
  userIdSchema,
} from "../wire/identifier.ts";
import { hostRuleSchema } from "../wire/host-rule.ts";
import { accessRuleMembers } from "../wire/resource.ts";
import { subjectSchema } from "../wire/subject.ts";
import { pageSchema } from "./admin-page.ts";

/** The answer of a call that changes policy. A refusal is a value. */
export const changeAnswerWire = defineWire(
  z.discriminatedUnion("ok", [
    z.strictObject({
      ok: z.literal(true),
      action_id: z.string().min(1).max(128),
      revision: z.int().min(0),
      /** It was so already; nothing was changed. */
      repeated: z.boolean(),
      /** Of a rule that was set. */
      rule_id: ruleIdSchema.exactOptional(),
    }),
    z.strictObject({
      ok: z.literal(false),
      code: z.enum(REFUSAL_CODES),
      message: messageSchema,
    }),
  ]),
);
export type ChangeAnswerView = WireType<typeof changeAnswerWire>;

/** Why; the only thing that a person says when taking something back. */
export const reasonWire = defineWire(z.strictObject({ reason: messageSchema.exactOptional() }));

const grantSchema = z.strictObject({
  approval: approvalSchema,
  last_used_at: timestampSchema.nullable(),
  /** It allows something now: not expired, not used up. */
  alive: z.boolean(),
});
export type Grant = WireType<{ readonly schema: typeof grantSchema }>;
export const grantPageWire = defineWire(pageSchema(grantSchema));
export const denialPageWire = defineWire(pageSchema(denialSchema));

const ruleViewSchema = z.strictObject({
  rule: hostRuleSchema,
  created_by: userIdSchema.nullable(),
  created_at: timestampSchema,
});
export type RuleView = WireType<{ readonly schema: typeof ruleViewSchema }>;
export const rulePageWire = defineWire(pageSchema(ruleViewSchema));

const ruleWordsShape = {
  /** Given: that rule is replaced. */
  id: ruleIdSchema.exactOptional(),
  effect: z.enum(RULE_EFFECTS),
  source: z.enum(RULE_SOURCES),
  subject: subjectSchema.exactOptional(),
  organization_id: organizationIdSchema.exactOptional(),
  user_id: userIdSchema.exactOptional(),
  session_key: sessionKeySchema.exactOptional(),
};
export const ruleWordsWire = defineWire(
  z
    .discriminatedUnion("resource_type", accessRuleMembers(ruleWordsShape))
    .refine((rule) => rule.effect !== "allow" || rule.source === "host", {
      path: ["effect"],
      error: "must be `deny` or `ask`: only rules of the source `host` may allow",
    }),
);
export type RuleWordsView = WireType<typeof ruleWordsWire>;

export const modeViewWire = defineWire(
  z.strictObject({ mode: z.enum(PERMISSION_MODES), expires_at: timestampSchema.nullable() }),
);
export type ModeView = WireType<typeof modeViewWire>;

export const modeWordsWire = defineWire(
  z.strictObject({
    mode: z.enum(PERMISSION_MODES),
    /** `bypass` needs one. */
    expires_at_ms: z.int().nullable().exactOptional(),
    reason: messageSchema.exactOptional(),
  }),
);
export type ModeWordsView = WireType<typeof modeWordsWire>;

/** Frozen: everything outside the allowlist is refused at once, whatever was approved. */
export const freezeViewWire = defineWire(
  z.strictObject({
    frozen: z.boolean(),
    reason: messageSchema.nullable(),
    changed_by: userIdSchema.nullable(),
    changed_at: timestampSchema.nullable(),
  }),
);
export type FreezeView = WireType<typeof freezeViewWire>;

export const freezeWordsWire = defineWire(
  z.strictObject({ frozen: z.boolean(), reason: messageSchema.exactOptional() }),
);
export type FreezeWordsView = WireType<typeof freezeWordsWire>;
