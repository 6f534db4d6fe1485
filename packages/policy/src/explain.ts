/**
 * Why a decision is what it is: every step looked at, which rule and frame decided, and what would have allowed it.
 * Slower than `decide` and never in its way; both run the same code, so they cannot disagree.
 */
import { type Access, type Fault, type Subject, operationLabel, subjectLabel } from "@sallyport/contract";
import type { ActiveContext } from "./active-context.ts";
import { judge } from "./decide.ts";
import type { AccessRule, Question } from "./question.ts";
import { Trace, type TraceNote } from "./trace.ts";
import type { Verdict } from "./verdict.ts";

/** What would have turned the answer into an allow, the narrowest first. */
export type Remedy =
  | { readonly kind: "fix_question"; readonly message: string }
  | { readonly kind: "enter_subject" }
  | { readonly kind: "name_active_subject"; readonly subject: Subject }
  | { readonly kind: "declare"; readonly subject: Subject; readonly rule: AccessRule }
  | { readonly kind: "approve_session"; readonly subject: Subject }
  | { readonly kind: "approve_permanently"; readonly subject: Subject }
  | { readonly kind: "lift_denial"; readonly ref: string }
  | { readonly kind: "remove_rule"; readonly ref: string }
  | { readonly kind: "change_mode"; readonly mode: string }
  | { readonly kind: "ask_explicitly" }
  | { readonly kind: "restore_service" };

export interface Explanation {
  readonly verdict: Verdict;
  readonly steps: readonly TraceNote[];
  /** The subject that the verdict speaks of; absent where there is none. */
  readonly subject: Subject | undefined;
  /** One sentence: subject, operation, target and why. */
  readonly because: string;
  readonly remedies: readonly Remedy[];
}

export function explain(active: ActiveContext, question: Question): Explanation {
  active.refresh();
  const trace = new Trace();
  const { verdict } = judge(active, question, trace);
  const subject = subjectOf(active, question, verdict);
  return Object.freeze({
    verdict,
    steps: Object.freeze(trace.notes),
    subject,
    because: because(verdict, subject, question.access),
    remedies: Object.freeze(remedies(verdict, subject, active, question)),
  });
}

function subjectOf(active: ActiveContext, question: Question, verdict: Verdict): Subject | undefined {
  const { frames } = active.context;
  return verdict.frame === frames.length ? question.named : frames[verdict.frame]?.subject;
}

function because(verdict: Verdict, subject: Subject | undefined, access: Access | Fault): string {
  if (!("target" in access)) return access.message;
  const who = subject === undefined ? "no subject" : subjectLabel(subject);
  const what = `${operationLabel(access).toLowerCase()} \`${access.target.text}\``;
  const refs = verdict.refs.length === 0 ? "" : ` (${verdict.refs.join(", ")})`;
  return `${who}: ${what} is ${verdict.outcome}: ${REASONS[verdict.code]}${refs}`;
}

const REASONS: Readonly<Record<Verdict["code"], string>> = {
  allowed_setup: "set-up is running",
  allowed_sandbox: "it is declared",
  allowed_session: "it was approved for this session",
  allowed_permanent: "it was approved permanently",
  allowed_rule: "host policy allows it",
  allowed_mode: "the mode allows it",
  approval_required: "nothing allows it yet, a person may",
  resource_disabled: "a person reviewed and refused it; do not retry",
  denied_rule: "a rule forbids it",
  denied_mode: "the mode refuses it",
  invalid_target: "the target cannot be parsed",
  invalid_operation: "the operation does not exist for this resource",
  subject_not_active: "the named subject is not on the active chain",
  no_subject: "no subject is active",
  request_limit: "the subject has too many open requests",
  approval_timeout: "nobody decided in time",
  unavailable: "the service cannot vouch for approvals now",
};

function remedies(
  verdict: Verdict,
  subject: Subject | undefined,
  active: ActiveContext,
  question: Question,
): Remedy[] {
  const { access } = question;
  if (verdict.allowed) return [];
  if (!("target" in access)) return [{ kind: "fix_question", message: access.message }];
  const { context } = active;
  switch (verdict.code) {
    case "no_subject":
      return [{ kind: "enter_subject" }];
    case "subject_not_active": {
      const innermost = context.frames.at(-1);
      return innermost === undefined ? [] : [{ kind: "name_active_subject", subject: innermost.subject }];
    }
    case "denied_rule":
      return verdict.source === "builtin_rule"
        ? []
        : verdict.refs.map((ref) => ({ kind: "remove_rule", ref }));
    case "resource_disabled":
      return verdict.refs.map((ref) => ({ kind: "lift_denial", ref }));
    case "unavailable":
      return [{ kind: "restore_service" }];
    case "denied_mode":
      return context.mode === "on_request" && question.ask !== "explicit"
        ? [{ kind: "ask_explicitly" }, { kind: "change_mode", mode: context.mode }]
        : [{ kind: "change_mode", mode: context.mode }];
    case "approval_required":
      return subject === undefined ? [] : approvalRemedies(verdict, subject, active, access);
    case "allowed_setup":
    case "allowed_sandbox":
    case "allowed_session":
    case "allowed_permanent":
    case "allowed_rule":
    case "allowed_mode":
    case "invalid_target":
    case "invalid_operation":
    case "request_limit":
    case "approval_timeout":
      // WHY: allowed needs no remedy, faults were answered above, and the last two are the service's to explain.
      return [];
  }
}

/** WHY: a declaration does not answer an ask rule, and a session approval needs a session. */
function approvalRemedies(
  verdict: Verdict,
  subject: Subject,
  active: ActiveContext,
  access: Access,
): Remedy[] {
  const { resourceType, operation, target } = access;
  const list: Remedy[] = [];
  const isDeclarable = verdict.source !== "host_rule" && active.context.mode !== "untrusted";
  if (isDeclarable)
    list.push({ kind: "declare", subject, rule: { resourceType, operation, target: target.text } });
  if (active.context.sessionKey) list.push({ kind: "approve_session", subject });
  list.push({ kind: "approve_permanently", subject });
  return list;
}
