/** How a request reads: as a sentence, with everything an approver has to see. Foreign text only through `shown`. */
import type { RequestDetail, RequestView } from "@sallyport/contract/admin";
import { operationLabel } from "@sallyport/contract";
import { shortened } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

const TARGET_SHOWN_MAX = 600;

type Shown = Pick<RequestView, "subject" | "subjectChain" | "resource">;

export function labelOf({ resource }: Pick<RequestView, "resource">): string {
  return operationLabel({ resourceType: resource.type, operation: resource.operation } as never);
}

export function callersOf({ subject, subjectChain }: Shown): string {
  const callers = subjectChain.slice(0, -1).toReversed();
  const by = callers.map((frame) => `, called by ${frame.subject.type} ${frame.subject.name}`).join("");
  return `${subject.type} ${subject.name}${by}`;
}

export function ageOf(since: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(since)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The lines of a request by itself. */
export function requestLines(terminal: Terminal, request: RequestView, nowMs: number): readonly string[] {
  const { origin, resume, count } = request;
  const target = shortened(request.resource.target, TARGET_SHOWN_MAX);
  const key = origin.sessionKey ?? null;
  const facts = [
    `user ${principal(origin.userId)}`,
    `organization ${principal(origin.organizationId)}`,
    key === null ? "no session key" : `session ${key}`,
    resume === null ? "not resumable" : `resumes ${resume.action}`,
    `asked ${count === 1 ? "once" : `${count} times`}`,
    `${ageOf(request.firstSeen, nowMs)} old`,
    `seen by ${request.attestedBy}`,
  ];
  const lines = [
    `${terminal.shown(callersOf(request), "bold")} wants`,
    `  ${terminal.paint("cyan", labelOf(request))}  ${terminal.shown(target, "bold")}`,
    `  ${terminal.paint("dim", terminal.shown(facts.join(" · ")))}`,
  ];
  if (request.resource.type === "network" && request.resource.operation === "connect")
    lines.push(`  ${terminal.paint("yellow", "connect: raw bytes both ways")}`);
  if (request.destructive) {
    const { impactScope, rollbackAdvice } = request;
    lines.push(`  ${terminal.paint("yellow", "destructive")}: ${terminal.shown(impactScope)}`);
    lines.push(`  ${terminal.paint("dim", `to undo it: ${terminal.shown(rollbackAdvice)}`)}`);
  }
  return lines;
}

/** The same with what helps to decide. */
export function detailLines(terminal: Terminal, detail: RequestDetail, nowMs: number): readonly string[] {
  const { request, targetRequested, asked, nearMisses, granted } = detail;
  const lines = [...requestLines(terminal, request, nowMs)];
  if (targetRequested !== request.resource.target)
    lines.push(`  written as ${terminal.shown(shortened(targetRequested, TARGET_SHOWN_MAX))}`);
  lines.push(`  asked because ${terminal.shown(becauseOf(asked))}`);
  for (const { message } of nearMisses) lines.push(`  asked again because ${terminal.shown(message)}`);
  for (const approval of request.status === "pending" ? granted.slice(0, 3) : [])
    lines.push(
      `  ${terminal.paint("dim", `granted already: ${labelOf(approval)} ${terminal.shown(shortened(approval.resource.target, 200))}`)}`,
    );
  if (request.status === "pending")
    lines.push(`  ${terminal.paint("dim", `expires ${terminal.shown(request.expiresAt)}`)}`);
  else {
    const by = request.decidedBy === null ? "nobody" : String(request.decidedBy);
    const reason = request.decisionReason === null ? "" : `: ${request.decisionReason}`;
    lines.push(`  ${terminal.shown(`${request.status} by ${by}${reason}`)}`);
  }
  return lines;
}

const ASKED_BY: Partial<Readonly<Record<RequestDetail["asked"]["decisionSource"], string>>> = {
  mode: "nothing decides it",
  host_rule: "an ask rule says so",
  hook: "a hook of the host says so",
  classifier: "a classifier of the host says so",
};

/** Why a person is asked, from the source of that decision. */
function becauseOf({ decisionSource, mode, ruleRefs }: RequestDetail["asked"]): string {
  const rules = ruleRefs.length === 0 ? "" : ` (${ruleRefs.join(", ")})`;
  return `${ASKED_BY[decisionSource] ?? `${decisionSource} says so`}${rules}, and mode ${mode} asks`;
}

function principal(id: number | string | null | undefined): string {
  if (id === null || id === undefined) return "none";
  return typeof id === "number" ? String(id) : JSON.stringify(id);
}
