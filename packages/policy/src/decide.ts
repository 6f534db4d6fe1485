/**
 * The decision. Pure over the snapshot, the context and the question; synchronous; total: whatever it is given,
 * it answers, and where it cannot tell it does not allow.
 */
import { type Access, type Fault, type Subject, pairIndex, sameSubject } from "@sallyport/contract";
import type { ActiveContext, StandingFrame } from "./active-context.ts";
import { findRule, isHarmless, judgeFrame } from "./judge-frame.ts";
import type { Judgement } from "./judgement.ts";
import type { Question } from "./question.ts";
import type { Trace } from "./trace.ts";
import { type Verdict, makeVerdict } from "./verdict.ts";

type Judged = Pick<Judgement, "verdict" | "timed">;

const NO_SUBJECT = makeVerdict("no_subject", "context", { frame: -1 });
const NOT_ACTIVE = makeVerdict("subject_not_active", "context", { frame: -1 });
const BAD_OPERATION = makeVerdict("invalid_operation", "validation", { frame: -1 });
const BAD_TARGET = makeVerdict("invalid_target", "validation", { frame: -1 });
const FAILED = makeVerdict("unavailable", "fault", { frame: -1 });

export function decide(active: ActiveContext, question: Question): Verdict {
  try {
    active.refresh();
    const { access } = question;
    const isPlain =
      question.address === undefined &&
      question.aliases === undefined &&
      question.twin === undefined &&
      question.named === undefined &&
      question.hook === undefined &&
      question.classifier === undefined;
    if (!isPlain || !isAccess(access)) return judge(active, question, undefined).verdict;
    const known = active.memo.get(access, question.ask);
    if (known !== undefined) return known;
    const { verdict, timed } = judge(active, question, undefined);
    // INVARIANT: limited approvals, and answers that the clock can change, are never given from memory.
    const isLasting = !timed && !verdict.limited && active.context.mode !== "bypass";
    if (isLasting && active.wasAskedBefore(access)) active.memo.set(access, question.ask, verdict);
    return verdict;
  } catch {
    return FAILED;
  }
}

/** The whole order of the check, without memory. May throw where its input is not what its types say. */
export function judge(active: ActiveContext, question: Question, trace: Trace | undefined): Judged {
  const first = active.standing[0];
  if (first === undefined) return untimed(NO_SUBJECT);
  const { access } = question;
  if (!isAccess(access)) return untimed(access.code === "invalid_target" ? BAD_TARGET : BAD_OPERATION);
  if (pairIndex(access.resourceType, access.operation) < 0) return untimed(BAD_OPERATION);
  const named = otherSubject(active, question.named, first);
  if (named === NOT_ACTIVE) return untimed(NOT_ACTIVE);
  const judgement: Judgement = {
    active,
    question,
    access,
    aims: active.snapshot.aimer.take(access, question),
    trace,
    timed: false,
    verdict: FAILED,
  };
  judgement.verdict = settle(judgeAll(first, named as StandingFrame | undefined, judgement), question);
  return judgement;
}

function judgeAll(first: StandingFrame, named: StandingFrame | undefined, judgement: Judgement): Verdict {
  const { active } = judgement;
  const standing = named === undefined ? active.standing : [...active.standing, named];
  const refusal = refuseBefore(first, named, standing, judgement);
  if (refusal !== undefined) return refusal;
  let answer: Verdict | undefined;
  let observed = isPlanned(judgement) ? first.bare("denied_mode", "mode") : undefined;
  for (const frame of standing) {
    const verdict = judgeFrame(frame, judgement);
    if (verdict.allowed) {
      answer = answer === undefined ? verdict : joined(answer, verdict);
    } else if (active.context.observe && isSoft(verdict)) {
      // INVARIANT: what is only observed never hides a denial that another frame holds.
      observed ??= verdict;
    } else {
      return frame === named ? forNamed(verdict, first, named, active) : verdict;
    }
  }
  if (observed !== undefined)
    return makeVerdict("allowed_mode", "observe", { frame: first.index, refs: observed.refs });
  return answer ?? NO_SUBJECT;
}

/** Built-in denies, set-up, deny rules, plan, a hook's deny: what comes before any frame is judged by itself. */
function refuseBefore(
  first: StandingFrame,
  named: StandingFrame | undefined,
  standing: readonly StandingFrame[],
  judgement: Judgement,
): Verdict | undefined {
  const { active, question, access, aims, trace } = judgement;
  const { snapshot, context } = active;
  const builtin = snapshot.aimer.findRestricting(snapshot.builtins.everybody, aims.restrict);
  trace?.note(first.index, "builtin_denies", builtin?.id);
  if (builtin !== undefined) {
    return makeVerdict("denied_rule", "builtin_rule", { frame: first.index, refs: [builtin.id] });
  }
  const isSetup =
    context.setup && named === undefined && access.resourceType === "filesystem" && isSystemModule(first);
  trace?.note(first.index, "setup", isSetup ? "setup" : undefined);
  if (isSetup) return first.bare("allowed_setup", "setup");
  for (const frame of standing) {
    const rule = findRule(frame.denyRules, judgement);
    trace?.note(frame.index, "deny_rules", rule?.id);
    if (rule === undefined) continue;
    const verdict = makeVerdict("denied_rule", "host_rule", { frame: frame.index, refs: [rule.id] });
    return frame === named ? forNamed(verdict, first, named, active) : verdict;
  }
  const planned = isPlanned(judgement);
  trace?.note(first.index, "plan", planned ? "plan" : undefined, context.observe);
  if (planned && !context.observe) return first.bare("denied_mode", "mode");
  if (question.hook?.answer === "deny") {
    return makeVerdict("denied_rule", "hook", { frame: first.index, refs: [question.hook.ref] });
  }
  return undefined;
}

/** A subject that the caller names beside the active one: its frame, nothing, or the refusal. */
function otherSubject(
  active: ActiveContext,
  subject: Subject | undefined,
  first: StandingFrame,
): StandingFrame | typeof NOT_ACTIVE | undefined {
  if (subject === undefined || sameSubject(subject, first.subject)) return undefined;
  return active.named(subject) ?? NOT_ACTIVE;
}

/** INVARIANT: a request never names a subject that guarded code picked; only host code may ask for another. */
function forNamed(
  verdict: Verdict,
  first: StandingFrame,
  named: StandingFrame,
  active: ActiveContext,
): Verdict {
  if (named.index === active.context.frames.length) return verdict;
  return Object.freeze({ ...verdict, frame: first.index, registers: false });
}

/** All frames passed: the active frame's answer, with what the others used. */
function joined(answer: Verdict, other: Verdict): Verdict {
  const refs = [...new Set([...answer.refs, ...other.refs])];
  return Object.freeze({ ...answer, refs: Object.freeze(refs), limited: answer.limited || other.limited });
}

/** INVARIANT: a passive check leaves no request behind. */
function settle(verdict: Verdict, question: Question): Verdict {
  if (!verdict.registers || question.ask !== "passive") return verdict;
  return Object.freeze({ ...verdict, registers: false });
}

function isPlanned({ active, access }: Judgement): boolean {
  return active.context.mode === "plan" && !isHarmless(access);
}

/** Asked, or refused by the mode: what `observe` lets through. */
function isSoft(verdict: Verdict): boolean {
  return verdict.code === "approval_required" || verdict.code === "denied_mode";
}

function isSystemModule(frame: StandingFrame): boolean {
  return frame.entry === "host" && frame.subject.type === "module" && frame.subject.name === "system";
}

function isAccess(access: Access | Fault): access is Access {
  return (access as Partial<Access>).target !== undefined;
}

function untimed(verdict: Verdict): Judged {
  return { verdict, timed: false };
}
