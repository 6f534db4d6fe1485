/** What a decision did, in words, and how to take it back. */
import type { AdminDecisionKind } from "@sallyport/client/admin";
import type { Decision } from "@sallyport/contract";
import type { Terminal } from "./terminal.ts";

const DID: Readonly<Record<AdminDecisionKind, string>> = {
  approve_for_session: "approved for the session",
  approve_permanently: "approved permanently",
  deny: "denied",
  block: "blocked by a deny rule",
};

export function decidedLines(
  terminal: Terminal,
  decision: Extract<Decision, { readonly ok: true }>,
): readonly string[] {
  const { kind, approval, denial, ruleId, settled, jobs, repeated } = decision;
  const style = kind === "deny" || kind === "block" ? "red" : "green";
  const id = approval?.id ?? denial?.id ?? ruleId ?? "";
  const lines = [
    `${terminal.paint(style, DID[kind] + usesOf(approval?.maxUses))} ${terminal.shown(id)}${repeated ? " (as before)" : ""}`,
  ];
  if (settled.length > 1) lines.push(`  settles ${settled.length} requests`);
  if (jobs > 0) lines.push(`  resumes ${jobs} ${jobs === 1 ? "job" : "jobs"}`);
  const undo = kind === "block" ? `sallyport rules remove ${id}` : `sallyport revoke ${id}`;
  lines.push(`  ${terminal.paint("dim", `to take it back: ${terminal.shown(undo)}`)}`);
  return lines;
}

function usesOf(maxUses: number | null | undefined): string {
  if (maxUses === null || maxUses === undefined) return "";
  return maxUses === 1 ? ", once" : `, ${maxUses} times`;
}
