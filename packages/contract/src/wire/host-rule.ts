/**
 * Rules of host policy as they travel. Only the host may allow; organization, user and session may deny or ask.
 */
import { z } from "zod";
import { RULE_EFFECTS, RULE_SOURCES } from "../decision.ts";
import { MATCHES } from "../target/pattern.ts";
import { MATCHES_OF, MATCH_FAULT } from "./approval.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import { organizationIdSchema, ruleIdSchema, sessionKeySchema, userIdSchema } from "./identifier.ts";
import { accessRuleMembers } from "./resource.ts";
import { subjectSchema } from "./subject.ts";

const shape = {
  id: ruleIdSchema,
  effect: z.enum(RULE_EFFECTS),
  source: z.enum(RULE_SOURCES),
  /** Left out: every subject. */
  subject: subjectSchema.exactOptional(),
  /** Whom it holds for. Left out: anybody. */
  organization_id: organizationIdSchema.exactOptional(),
  user_id: userIdSchema.exactOptional(),
  session_key: sessionKeySchema.exactOptional(),
  /** Where the rule was made from a target rather than written as a pattern: says how wide it is. */
  match: z.enum(MATCHES).exactOptional(),
};

export const hostRuleSchema = z
  .discriminatedUnion("resource_type", accessRuleMembers(shape))
  .refine((rule) => rule.effect !== "allow" || rule.source === "host", {
    path: ["effect"],
    error: "must be `deny` or `ask`: only rules of the source `host` may allow",
  })
  .refine(
    (rule) => rule.match === undefined || MATCHES_OF[rule.resource_type].includes(rule.match),
    MATCH_FAULT,
  );
export const hostRuleWire = defineWire(hostRuleSchema);
export type HostRule = WireType<typeof hostRuleWire>;
