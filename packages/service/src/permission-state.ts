/**
 * What a caller stands under, as it may know it itself: the mode, the rules that can meet its chain in its session, and
 * the kinds of policy that take part. Reads the node's own view; spends, registers and records nothing.
 * Must never name a rule that is for other subjects, users, organizations or sessions only.
 */
import { POLICY_SOURCES, type PermissionState, type PolicySource } from "@sallyport/contract";
import { type CallerContext, policyContext, sessionOf } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";
import { concernsRule } from "./rule-concern.ts";

/** As many as a list of references holds on the wire. */
const RULES_MAX = 1000;

/** `undefined`: nobody acts. */
export function permissionState(parts: NodeParts, caller: CallerContext): PermissionState | undefined {
  if (caller.frames.length === 0) return undefined;
  const who = { subjects: caller.frames.map(({ subject }) => subject), session: sessionOf(caller) };
  const sources = new Set<PolicySource>(["builtin", "manifest", "approval"]);
  if (parts.hook !== undefined) sources.add("hook");
  const { mode } = policyContext(caller, nodeState(parts));
  if (mode === "auto" && parts.classifier !== undefined) sources.add("classifier");
  const rules: string[] = [];
  for (const rule of parts.live.facts.rules) {
    if (!concernsRule(rule, who)) continue;
    sources.add(rule.source);
    if (rules.length < RULES_MAX) rules.push(rule.id);
  }
  return Object.freeze<PermissionState>({
    mode,
    rules: Object.freeze(rules) as unknown as PermissionState["rules"],
    policySources: Object.freeze(POLICY_SOURCES.filter((source) => sources.has(source))),
    interactive: caller.interactive,
  });
}
