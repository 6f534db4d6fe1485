/**
 * The second model of the decision, written from the specification alone: obvious rather than fast.
 * Knows nothing of the engine. "Step n" is section 5 of the specification, "point n" is decision 0002.
 * This file is the order of the check; `reference-match.ts` says what a rule or a decision reaches.
 */
import {
  type Access,
  type CheckCode,
  type PermissionMode,
  type Subject,
  sameSubject,
} from "@sallyport/contract";
import type {
  Approval,
  BuiltinDeny,
  Context,
  Contract,
  Denial,
  Frame,
  HostRule,
  Question,
  Registration,
} from "../question.ts";
import { type Sight, decides, declares, look } from "./reference-match.ts";

export interface World {
  readonly contracts: readonly Contract[];
  readonly registrations: readonly Registration[];
  readonly rules: readonly HostRule[];
  readonly builtins: readonly BuiltinDeny[];
  readonly approvals: readonly Approval[];
  readonly denials: readonly Denial[];
}

export interface ReferenceVerdict {
  readonly code: CheckCode;
  readonly frame: number;
  readonly limited: boolean;
  readonly registers: boolean;
}

/** A frame that must pass. `report` is the index its failure is told under; `mute`: it registers nothing. */
interface Passing {
  readonly frame: Frame;
  readonly index: number;
  readonly report: number;
  readonly mute: boolean;
}

interface FrameAnswer {
  readonly code: CheckCode;
  readonly limited: boolean;
}

export function referenceDecide(world: World, context: Context, question: Question): ReferenceVerdict {
  const { frames, mode, observe } = context;
  const active = frames.length - 1;
  // Point 1: no subject, then a fault of the question (step 2), then a named subject that is not active.
  if (!frames.some((frame) => frame.entry === "host")) return verdict("no_subject", -1);
  const { access } = question;
  if ("ok" in access) {
    return verdict(access.code === "invalid_operation" ? "invalid_operation" : "invalid_target", -1);
  }
  const passing = framesThatMustPass(world, frames, question.named);
  if (passing === undefined) return verdict("subject_not_active", -1);
  const sight = look(question, access);

  // Point 2: built-in denies, which nothing lifts.
  if (world.builtins.some((rule) => declares(rule, sight.mayRestrict))) return verdict("denied_rule", active);
  // Step 1 and point 3: the set-up exception.
  if (isSetUp(context, question, access)) return verdict("allowed_setup", active);
  // Point 6: explicit deny rules for all frames, then mode `plan`, then a hook's deny.
  for (const { frame, report } of passing) {
    if (hasRule(world, "deny", frame.subject, sight.mayRestrict)) return verdict("denied_rule", report);
  }
  const planned = mode === "plan" && !isReadOrReceive(access);
  if (planned && !observe) return verdict("denied_mode", active);
  if (question.hook?.answer === "deny") return verdict("denied_rule", active);

  // Point 7: each frame in turn; the first that is not allowed is the answer.
  // Point 17: `observe` lets through what is asked or refused by the mode, and goes on looking.
  let observed = planned;
  const answers: FrameAnswer[] = [];
  for (const { frame, report, mute } of passing) {
    const answer = decideFrame(world, context, question, sight, frame);
    answers.push(answer);
    if (answer.code.startsWith("allowed")) continue;
    const soft = answer.code === "approval_required" || answer.code === "denied_mode";
    if (soft && observe) {
      observed = true;
      continue;
    }
    // Point 18 (steps 7 and 8): registered unless the check is passive or only the named frame failed.
    const registers = answer.code === "approval_required" && question.ask !== "passive" && !mute;
    return { code: answer.code, frame: report, limited: false, registers };
  }
  if (observed) return verdict("allowed_mode", active);
  // Point 8: all pass, and the active frame's answer is the answer.
  const limited = answers.some((answer) => answer.limited);
  return { code: answers[0]?.code ?? "no_subject", frame: active, limited, registers: false };
}

/** Points 4 and 5, in order; `undefined` where the named subject is not active. */
function framesThatMustPass(
  world: World,
  frames: readonly Frame[],
  named: Subject | undefined,
): Passing[] | undefined {
  const active = frames.length - 1;
  const innermostFirst = frames.map((frame, index) => ({ frame, index })).toReversed();
  const hostEntered = innermostFirst.findIndex(({ frame }) => frame.entry === "host");
  const passing = innermostFirst
    .slice(0, hostEntered + 1)
    .map(({ frame, index }) => ({ frame, index, report: index, mute: false }));
  if (named === undefined) return passing;
  const found = innermostFirst.find(({ frame }) => sameSubject(frame.subject, named));
  if (found !== undefined) {
    if (passing.some(({ index }) => index === found.index)) return passing;
    return [...passing, { ...found, report: active, mute: true }];
  }
  const registered = world.registrations.find(({ subject }) => sameSubject(subject, named));
  if (!isCore(frames[active]?.subject) || registered === undefined) return undefined;
  const frame: Frame = { subject: named, phase: "runtime", entry: "host", contracts: registered.contracts };
  return [...passing, { frame, index: frames.length, report: frames.length, mute: false }];
}

function isSetUp(context: Context, question: Question, access: Access): boolean {
  const frame = context.frames.at(-1);
  if (frame === undefined || !context.setup || access.resourceType !== "filesystem") return false;
  const isSystem = frame.subject.type === "module" && frame.subject.name === "system";
  const namesOther = question.named !== undefined && !sameSubject(question.named, frame.subject);
  return isSystem && frame.entry === "host" && !namesOther;
}

/** Points 9 to 16: one frame on its own contract. */
function decideFrame(
  world: World,
  context: Context,
  question: Question,
  sight: Sight,
  frame: Frame,
): FrameAnswer {
  const { subject } = frame;
  // Point 9: ask rules and a hook's ask.
  const asked = hasRule(world, "ask", subject, sight.mayRestrict) || question.hook?.answer === "ask";
  // Step 3 and point 10: the allowlist of the frame.
  const listed = world.contracts
    .filter(({ id }) => frame.contracts.includes(id))
    .some((contract) => contract.access.some((rule) => declares(rule, sight.mayAllow)));
  const trusted = context.mode !== "untrusted" || isReadOrReceive(sight.access);
  if (!asked && listed && trusted) return plain("allowed_sandbox");
  // Point 11: all that the allowlist did not allow fails closed.
  if (!context.live) return plain("unavailable");
  // Steps 4 and 5 and point 12: approvals that are alive; an exact denial leaves the exact ones only.
  const denials = world.denials.filter(
    (denial) => sameSubject(denial.subject, subject) && decides(denial, sight.mayRestrict),
  );
  const exactDenial = denials.some(({ match }) => match === "exact");
  const approvals = world.approvals
    .filter((approval) => sameSubject(approval.subject, subject) && isAlive(approval, question.nowMs))
    .filter((approval) => decides(approval, sight.mayAllow) && (approval.match === "exact" || !exactDenial));
  const session = approvals.filter((approval) => isOfSession(approval, context));
  if (session.length > 0) return { code: "allowed_session", limited: session.every(isLimited) };
  const permanent = approvals.filter(({ scope }) => scope === "permanent");
  if (permanent.length > 0) return { code: "allowed_permanent", limited: permanent.every(isLimited) };
  // Step 6 and point 13.
  if (denials.length > 0) return plain("resource_disabled");
  // Point 14: allow rules, a hook's allow, and host code without any rule.
  const ruled = hasRule(world, "allow", subject, sight.mayAllow) || question.hook?.answer === "allow";
  if (!asked && (ruled || isCore(subject))) return plain("allowed_rule");
  return plain(decideMode(context, question, asked));
}

/** Point 15 and the table of modes: what is left undecided. */
function decideMode(context: Context, question: Question, asked: boolean): CheckCode {
  const mode = modeNow(context, question.nowMs);
  if (mode === "never") return "denied_mode";
  if (mode === "on_request") return question.ask === "explicit" ? "approval_required" : "denied_mode";
  if (asked) return "approval_required";
  if (mode === "on_failure") return context.confined ? "allowed_mode" : "denied_mode";
  if (mode === "bypass") return "allowed_mode";
  if (mode === "auto" && question.classifier?.answer === "allow") return "allowed_mode";
  if (mode === "auto" && question.classifier?.answer === "deny") return "denied_mode";
  return "approval_required";
}

function modeNow({ mode, modeExpiresAtMs }: Context, nowMs: number): PermissionMode {
  const over = modeExpiresAtMs === null || nowMs >= modeExpiresAtMs;
  return mode === "bypass" && over ? "default" : mode;
}

/** Section 7: a rule without a subject holds for all; only the source `host` may allow. */
function hasRule(
  world: World,
  effect: HostRule["effect"],
  subject: Subject,
  forms: readonly Access[],
): boolean {
  return world.rules
    .filter((rule) => rule.effect === effect && (effect !== "allow" || rule.source === "host"))
    .filter((rule) => rule.subject === undefined || sameSubject(rule.subject, subject))
    .some((rule) => declares(rule, forms));
}

function isAlive({ expiresAtMs, usesLeft }: Approval, nowMs: number): boolean {
  return (expiresAtMs === null || nowMs < expiresAtMs) && (usesLeft === null || usesLeft > 0);
}

function isLimited({ expiresAtMs, usesLeft }: Approval): boolean {
  return expiresAtMs !== null || usesLeft !== null;
}

function isOfSession(approval: Approval, context: Context): boolean {
  if (approval.scope !== "session" || context.sessionKey === null || context.sessionKey === "") return false;
  if (approval.organizationId !== context.organizationId) return false;
  return approval.userId === context.userId && approval.sessionKey === context.sessionKey;
}

function isReadOrReceive({ operation }: Access): boolean {
  return operation === "read" || operation === "receive";
}

function isCore(subject: Subject | undefined): boolean {
  return subject?.type === "core" && subject.name === "core";
}

function plain(code: CheckCode): FrameAnswer {
  return { code, limited: false };
}

function verdict(code: CheckCode, frame: number): ReferenceVerdict {
  return { code, frame, limited: false, registers: false };
}
