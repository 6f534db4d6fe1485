/**
 * Steps 3 to 8 of the check for one frame: allowlist, session approval, permanent approval, denial, host policy, mode.
 */
import { type Access, pairIndex } from "@sallyport/contract";
import type { StandingFrame } from "./active-context.ts";
import type { Aim } from "./aim.ts";
import { askerRef, endByMode } from "./end-by-mode.ts";
import type { Judgement } from "./judgement.ts";
import type { Owner } from "./pattern-table.ts";
import type { Approval, Denial, HostRule } from "./question.ts";
import { type Verdict, makeVerdict } from "./verdict.ts";

export function judgeFrame(frame: StandingFrame, judgement: Judgement): Verdict {
  const { active, question, access, aims, trace } = judgement;
  const { snapshot, context } = active;
  const { aimer } = snapshot;
  const askRule = findRule(frame.askRules, judgement);
  const askedBy = askRule ?? (question.hook?.answer === "ask" ? question.hook : undefined);
  trace?.note(frame.index, "ask_rules", askedBy && askerRef(askedBy));

  const declared = findDeclared(frame, judgement);
  const isBarred = askedBy !== undefined || (context.mode === "untrusted" && !isHarmless(access));
  trace?.note(frame.index, "allowlist", declared?.refs[0], isBarred);
  if (declared !== undefined && !isBarred) return declared;

  if (!context.live) return frame.bare("unavailable", "fault");

  const exactDenial = aimer.findRestricting(frame.denials, aims.restrict, isExact);
  const approval =
    useApproval(frame, "session_approval", exactDenial, judgement) ??
    useApproval(frame, "permanent_approval", exactDenial, judgement);
  if (approval !== undefined) return approval;

  const denial = exactDenial ?? aimer.findRestricting(frame.denials, aims.restrict);
  trace?.note(frame.index, "denial", denial?.id);
  if (denial !== undefined) {
    return makeVerdict("resource_disabled", "denial", { frame: frame.index, refs: [denial.id] });
  }
  const allowed = askedBy === undefined ? allowedByHost(frame, judgement) : undefined;
  return allowed ?? endByMode(frame, judgement, askedBy);
}

/** The first deny or ask rule of these owners. */
export function findRule(
  owners: readonly Owner<HostRule>[],
  { active, aims }: Judgement,
): HostRule | undefined {
  for (const owner of owners) {
    const rule = active.snapshot.aimer.findRestricting(owner, aims.restrict);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

function findDeclared(frame: StandingFrame, { active, aims }: Judgement): Verdict | undefined {
  for (const indexed of frame.contracts) {
    if (active.snapshot.aimer.findAllowing(indexed.owner, aims.allow) !== undefined)
      return frame.declared(indexed);
  }
  return undefined;
}

function useApproval(
  frame: StandingFrame,
  source: "session_approval" | "permanent_approval",
  exactDenial: Denial | undefined,
  judgement: Judgement,
): Verdict | undefined {
  const isSession = source === "session_approval";
  const owner = isSession ? frame.session : frame.permanent;
  if (owner === undefined) return undefined;
  const { active, question, trace } = judgement;
  const { aimer } = active.snapshot;
  const aims = aimsForApprovals(frame, judgement);
  const counts = (approval: Approval): boolean => exactDenial === undefined || approval.match === "exact";
  const isUnlimited = (approval: Approval): boolean => !isLimited(approval) && counts(approval);
  const isAlive = (approval: Approval): boolean => {
    if (approval.expiresAtMs !== null) judgement.timed = true;
    return counts(approval) && isLive(approval, question.nowMs);
  };
  const found = aimer.findAllowing(owner, aims, isUnlimited) ?? aimer.findAllowing(owner, aims, isAlive);
  if (trace !== undefined) {
    const any = found ?? aimer.findAllowing(owner, judgement.aims.allow);
    trace.note(frame.index, source, any?.id, found === undefined);
  }
  if (found === undefined) return undefined;
  const code = isSession ? "allowed_session" : "allowed_permanent";
  return makeVerdict(code, source, { frame: frame.index, refs: [found.id], limited: isLimited(found) });
}

/** Where a denial covers one form of an executable, approvals of the other form do not count. */
function aimsForApprovals(frame: StandingFrame, { active, aims }: Judgement): readonly Aim[] {
  if (!aims.isTwin) return aims.allow;
  return aims.allow.filter((aim) => {
    const others = aims.restrict.filter((other) => other !== aim);
    return active.snapshot.aimer.findRestricting(frame.denials, others) === undefined;
  });
}

function allowedByHost(frame: StandingFrame, judgement: Judgement): Verdict | undefined {
  const { question, trace } = judgement;
  const rule = findAllowRule(frame, judgement);
  trace?.note(frame.index, "allow_rules", rule?.id);
  if (rule !== undefined)
    return makeVerdict("allowed_rule", "host_rule", { frame: frame.index, refs: [rule.id] });
  if (question.hook?.answer === "allow") {
    return makeVerdict("allowed_rule", "hook", { frame: frame.index, refs: [question.hook.ref] });
  }
  // WHY: host code has host policy only; without a rule against it, it goes on.
  return frame.isCore ? frame.bare("allowed_rule", "host_rule") : undefined;
}

function findAllowRule(frame: StandingFrame, { active, aims }: Judgement): HostRule | undefined {
  for (const owner of frame.allowRules) {
    const rule = active.snapshot.aimer.findAllowing(owner, aims.allow);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

const FILESYSTEM_READ = pairIndex("filesystem", "read");
const NETWORK_RECEIVE = pairIndex("network", "receive");

/** Read and receive: what `untrusted` and `plan` leave to the ordinary order. */
export function isHarmless(access: Access): boolean {
  const pair = pairIndex(access.resourceType, access.operation);
  return pair === FILESYSTEM_READ || pair === NETWORK_RECEIVE;
}

function isExact(denial: Denial): boolean {
  return denial.match === "exact";
}

function isLimited(approval: Approval): boolean {
  return approval.expiresAtMs !== null || approval.usesLeft !== null;
}

/** WHY: written so that a clock that is not a number kills the approval. */
function isLive(approval: Approval, nowMs: number): boolean {
  const inTime = approval.expiresAtMs === null || nowMs < approval.expiresAtMs;
  return inTime && (approval.usesLeft === null || approval.usesLeft > 0);
}
