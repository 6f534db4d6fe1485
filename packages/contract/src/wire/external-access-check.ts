/**
 * The answer to a check. Its parts must agree: a check that says `allowed` beside a code that denies is refused,
 * so that nobody can be let through by reading the wrong field.
 */
import { z } from "zod";
import { CHECK_CODES, type CheckCode, type Outcome } from "../decision.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import { messageSchema, requestIdSchema } from "./identifier.ts";
import { permissionDecisionSchema } from "./permission-facts.ts";

/** `sandboxed` stands where an action was let run unchecked under a complete OS profile. */
function outcomeFits(code: CheckCode, outcome: Outcome): boolean {
  return outcome === CHECK_CODES[code] || (outcome === "sandboxed" && CHECK_CODES[code] === "allowed");
}

export const externalAccessCheckSchema = z
  .strictObject({
    allowed: z.boolean(),
    requires_approval: z.boolean(),
    code: z.enum(Object.keys(CHECK_CODES) as [CheckCode, ...CheckCode[]]),
    /** Names subject, operation, target and the next step. */
    message: messageSchema,
    request_id: requestIdSchema.exactOptional(),
    decision: permissionDecisionSchema,
  })
  .refine(({ code, decision }) => outcomeFits(code, decision.decision), {
    path: ["decision", "decision"],
    error: "must be the decision that `code` stands for",
  })
  .refine(({ allowed, code }) => allowed === (CHECK_CODES[code] === "allowed"), {
    path: ["allowed"],
    error: "must agree with `code`",
  })
  .refine(({ requires_approval: asks, code }) => asks === (code === "approval_required"), {
    path: ["requires_approval"],
    error: "must be true for `approval_required` and false for every other code",
  });
export const externalAccessCheckWire = defineWire(externalAccessCheckSchema);
export type ExternalAccessCheck = WireType<typeof externalAccessCheckWire>;
