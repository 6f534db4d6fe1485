/**
 * The answer where there is none: `unavailable`, which allows nothing. Says what is wrong as far as the client knows it.
 */
import {
  type Ask,
  type CallerContext,
  type DecisionId,
  type ExternalAccessCheck,
  type Refusal,
  destructiveFacts,
  operationLabel,
  subjectLabel,
} from "@sallyport/contract";

export const UNREACHABLE = "the server cannot be reached: try again when it is back";

export function unavailableCheck(
  caller: CallerContext,
  { access, exists }: Pick<Ask, "access" | "exists">,
  why: string,
): ExternalAccessCheck {
  const subject = caller.frames.at(-1)?.subject;
  const who = subject === undefined ? "no subject" : subjectLabel(subject);
  const isFault = "code" in access;
  const what = isFault ? "what was asked for" : operationLabel(access).toLowerCase();
  const message = `${who}: ${what} cannot be decided now: ${why}`.slice(0, 2000);
  const impact = isFault
    ? {
        destructive: false,
        impactScope: "nothing: what was asked for does not exist",
        rollbackAdvice: "nothing to undo",
      }
    : destructiveFacts(access, { exists: exists === true });
  return Object.freeze({
    allowed: false,
    requiresApproval: false,
    code: "unavailable",
    message,
    decision: Object.freeze({
      id: `client-${crypto.randomUUID()}` as DecisionId,
      decision: "unavailable",
      decisionReason: message,
      ruleRefs: [],
      updatedInputRef: null,
      approvalActionId: null,
      expiresAt: null,
      scope: null,
      ...impact,
      decisionSource: "fault",
    }),
  });
}

export function unavailableDecision(why: string): Refusal {
  return Object.freeze({ ok: false, code: "unavailable", message: `nothing was decided: ${why}` });
}
