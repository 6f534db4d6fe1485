/**
 * The answer to a question that cannot be asked because its arguments are wrong. Allows nothing.
 */
import { randomUUID } from "node:crypto";
import { type DecisionId, type ExternalAccessCheck, type Fault } from "@sallyport/contract";

export function faultCheck({ code, message }: Fault): ExternalAccessCheck {
  const known = code === "invalid_target" ? code : "invalid_operation";
  return Object.freeze<ExternalAccessCheck>({
    allowed: false,
    requiresApproval: false,
    code: known,
    message,
    decision: Object.freeze({
      id: `child-${randomUUID()}` as DecisionId,
      decision: "denied",
      decisionReason: message,
      ruleRefs: [],
      updatedInputRef: null,
      approvalActionId: null,
      expiresAt: null,
      scope: null,
      destructive: false,
      impactScope: "nothing: what was asked for does not exist",
      rollbackAdvice: "nothing to undo",
      decisionSource: "validation",
    }),
  });
}
