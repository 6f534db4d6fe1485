/**
 * Rules of host policy as they travel. Only the host may allow; organization, user and session may deny or ask.
 */
import { z } from "zod";
import { RULE_EFFECTS, RULE_SOURCES } from "../decision.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import { ruleIdSchema } from "./identifier.ts";
import { accessRuleMembers } from "./resource.ts";
import { subjectSchema } from "./subject.ts";

const shape = {
  id: ruleIdSchema,
  effect: z.enum(RULE_EFFECTS),
  source: z.enum(RULE_SOURCES),
  /** Left out: every subject. */
  subject: subjectSchema.exactOptional(),
};

export const hostRuleSchema = z
  .discriminatedUnion("resource_type", accessRuleMembers(shape))
  .refine((rule) => rule.effect !== "allow" || rule.source === "host", {
    path: ["effect"],
    error: "must be `deny` or `ask`: only rules of the source `host` may allow",
  });
export const hostRuleWire = defineWire(hostRuleSchema);
export type HostRule = WireType<typeof hostRuleWire>;
