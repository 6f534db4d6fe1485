/**
 * The answer to a check in words and fields: what was decided, by what, and what to do next. Decides nothing.
 * Targets are masked here, because an answer is shown, logged and sent.
 */
import {
  type Access,
  type CheckCode,
  type DecisionId,
  type DestructiveFacts,
  type ExternalAccessCheck,
  type Fault,
  type PermissionDecision,
  type RequestId,
  type Subject,
  destructiveFacts,
  operationLabel,
  subjectLabel,
} from "@sallyport/contract";
import type { Verdict } from "@sallyport/policy";
import { maskMessage, maskTarget } from "./audit/event-masking.ts";
import { isAccess } from "./caller-context.ts";
import type { DecisionFact } from "./held-facts.ts";
import { timestampOf } from "./node-clock.ts";

/** Why, and what to do next. */
const REASONS: Readonly<Record<CheckCode, string>> = {
  allowed_setup: "is allowed while set-up runs",
  allowed_sandbox: "is allowed: it is declared",
  allowed_session: "is allowed: it was approved for this session",
  allowed_permanent: "is allowed: it was approved permanently",
  allowed_rule: "is allowed by host policy",
  allowed_mode: "is allowed by the permission mode",
  approval_required: "needs an approval",
  resource_disabled: "was reviewed and refused by a person: do not retry, go on without it",
  denied_rule: "is blocked by a rule of the host: do not retry, ask whoever keeps the rules",
  denied_mode: "is refused by the permission mode: do not retry in this mode",
  invalid_target: "cannot be checked",
  invalid_operation: "cannot be checked",
  subject_not_active: "was asked for a subject that is not active: name the active one, or none",
  no_subject: "has no subject: call from inside a subject that the host entered",
  request_limit: "has too many open requests: wait until some are decided, then try again",
  approval_timeout: "was not decided in time: the request stays open, try again once it is approved",
  unavailable: "cannot be decided or recorded now: try again when the service is back",
};

const MESSAGE_LENGTH_MAX = 2000;
const TARGET_SHOWN_MAX = 1000;

export interface AnswerFacts {
  readonly verdict: Verdict;
  /** The subject that the verdict speaks of. */
  readonly subject: Subject | null;
  readonly access: Access | Fault;
  readonly exists: boolean;
  readonly requestId: string | null;
  /** A more exact next step than the table's. */
  readonly nextStep: string | null;
  /** Of the approval or denial that decided. */
  readonly decided: DecisionFact | undefined;
  readonly decisionId: string;
  /** Where the input is that a hook made and that was checked. */
  readonly updatedInputRef: string | null;
  readonly maskingKey: Uint8Array;
}

export function answerOf(facts: AnswerFacts): ExternalAccessCheck {
  const { verdict, requestId } = facts;
  const message = messageOf(facts);
  return Object.freeze({
    allowed: verdict.allowed,
    requiresApproval: verdict.requiresApproval,
    code: verdict.code,
    message,
    ...(requestId === null ? {} : { requestId: requestId as RequestId }),
    decision: decisionOf(facts, message),
  });
}

function decisionOf(facts: AnswerFacts, message: string): PermissionDecision {
  const { verdict, decided, decisionId, updatedInputRef } = facts;
  const expiresAtMs = decided?.expiresAtMs ?? null;
  return Object.freeze({
    id: decisionId as DecisionId,
    decision: verdict.outcome,
    decisionReason: message,
    ruleRefs: verdict.refs as PermissionDecision["ruleRefs"],
    updatedInputRef: updatedInputRef as PermissionDecision["updatedInputRef"],
    approvalActionId: (decided?.actionId ?? null) as PermissionDecision["approvalActionId"],
    expiresAt: expiresAtMs === null ? null : timestampOf(expiresAtMs),
    scope: decided?.scope ?? null,
    ...impactOf(facts),
  });
}

function impactOf({ access, exists, verdict }: AnswerFacts): DestructiveFacts {
  if (isAccess(access)) {
    return { ...destructiveFacts(access, { exists }), decisionSource: verdict.source };
  }
  return {
    destructive: false,
    impactScope: "nothing: what was asked for does not exist",
    rollbackAdvice: "nothing to undo",
    decisionSource: verdict.source,
  };
}

function messageOf({ verdict, subject, access, requestId, nextStep, maskingKey }: AnswerFacts): string {
  const who = subject === null ? "no subject" : subjectLabel(subject);
  if (!isAccess(access)) return bounded(`${who}: ${maskMessage(access.message, maskingKey)}`);
  const target = maskTarget(access.resourceType, access.target.text, maskingKey);
  const shown = target.length > TARGET_SHOWN_MAX ? `${target.slice(0, TARGET_SHOWN_MAX)}…` : target;
  const what = `${operationLabel(access).toLowerCase()} \`${shown}\``;
  const next = nextStep ?? askedStep(verdict, requestId);
  return bounded(`${who}: ${what} ${REASONS[verdict.code]}${next === null ? "" : `: ${next}`}`);
}

function askedStep(verdict: Verdict, requestId: string | null): string | null {
  if (verdict.code !== "approval_required") return null;
  return requestId === null
    ? "ask for it with `require`, or declare it"
    : `wait for request ${requestId} to be decided, then try again`;
}

function bounded(message: string): string {
  return message.length <= MESSAGE_LENGTH_MAX ? message : `${message.slice(0, MESSAGE_LENGTH_MAX - 1)}…`;
}
