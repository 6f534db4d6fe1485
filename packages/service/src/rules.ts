/**
 * Rules of host policy, and the mode of the service. A rule that cannot be understood is refused before it is stored:
 * a deny rule that nobody can match would be worse than none.
 */
import type {
  Operation,
  PermissionMode,
  ResourceType,
  RuleEffect,
  RuleSource,
  Subject,
} from "@sallyport/contract";
import { Snapshot } from "@sallyport/policy";
import type { PrincipalId, RuleRow } from "@sallyport/store";
import type { CallerContext } from "./caller-context.ts";
import { type ChangeAnswer, changePolicy } from "./change-policy.ts";
import { refusal } from "./decision-request.ts";
import type { NodeParts } from "./node-parts.ts";
import { MODE_SETTING, modeJson } from "./node-state.ts";
import { actorOf, personJson } from "./policy-event.ts";
import { ruleFact } from "./policy-rows.ts";
import { ruleJson } from "./rule-row.ts";

export interface RuleWords {
  /** Left out: a new one. Given: that one is replaced. */
  readonly id?: string | undefined;
  readonly effect: RuleEffect;
  readonly source: RuleSource;
  /** Left out: every subject. */
  readonly subject?: Subject | undefined;
  readonly resourceType: ResourceType;
  readonly operation: Operation;
  /** Spelled as in a manifest. */
  readonly target: string;
  /** Whom it holds for. Left out: anybody. A rule of an organization, a user or a session names that one. */
  readonly organizationId?: PrincipalId | undefined;
  readonly userId?: PrincipalId | undefined;
  readonly sessionKey?: string | undefined;
}

/** What a rule of this source must name: it never holds for others. */
const HOLDER_OF = { organization: "organizationId", user: "userId", session: "sessionKey" } as const;

export async function setRule(
  parts: NodeParts,
  caller: CallerContext,
  words: RuleWords,
): Promise<ChangeAnswer & { readonly ruleId?: string }> {
  const id = words.id ?? parts.newId("rule");
  const answer = await changePolicy(parts, caller, "set_rule", async (tx) => {
    const holder = words.source === "host" ? undefined : HOLDER_OF[words.source];
    if (holder !== undefined && words[holder] === undefined)
      return refusal("invalid_operation", `a rule of source \`${words.source}\` needs \`${holder}\``);
    const row: RuleRow = {
      id,
      effect: words.effect,
      source: words.source,
      subject: words.subject ?? null,
      resourceType: words.resourceType,
      operation: words.operation,
      target: words.target,
      match: null,
      organizationId: words.organizationId ?? null,
      userId: words.userId ?? null,
      sessionKey: words.sessionKey ?? null,
      createdBy: personJson(actorOf(caller)),
      createdMs: parts.clock.nowMs(),
    };
    const taken = new Snapshot(parts).apply({ kind: "rule_set", rule: ruleFact(row) });
    if (!taken.ok)
      return refusal(taken.code === "invalid_target" ? "invalid_target" : "invalid_operation", taken.message);
    const former = await tx.rules.remove(id);
    await tx.rules.insert(row);
    const { resourceType, operation, target, subject } = row;
    return {
      ok: true,
      changed: [{ kind: "rule", id }],
      tuple: subject === null ? null : { subject, resourceType, operation, target },
      before: former === null ? null : ruleJson(former),
      after: ruleJson(row),
    };
  });
  return answer.ok ? { ...answer, ruleId: id } : answer;
}

export interface ModeWords {
  readonly mode: PermissionMode;
  /** `bypass` needs one. */
  readonly expiresAtMs?: number | null | undefined;
  readonly reason?: string | undefined;
}

/** The mode of every caller whose host did not choose one. */
export function setMode(parts: NodeParts, caller: CallerContext, words: ModeWords): Promise<ChangeAnswer> {
  return changePolicy(parts, caller, "set_mode", async (tx) => {
    const expiresAtMs = words.expiresAtMs ?? null;
    const nowMs = parts.clock.nowMs();
    const hasEnd = expiresAtMs !== null && Number.isSafeInteger(expiresAtMs) && expiresAtMs > nowMs;
    if (words.mode === "bypass" && !hasEnd)
      return refusal(
        "invalid_operation",
        "mode `bypass` needs an end that is still to come: give `expires_at`",
      );
    const former = await tx.settings.get(MODE_SETTING);
    const after = modeJson(words.mode, expiresAtMs);
    await tx.settings.set(MODE_SETTING, after, nowMs);
    return {
      ok: true,
      changed: [{ kind: "setting", id: MODE_SETTING }],
      tuple: null,
      reason: words.reason ?? null,
      before: former?.value ?? null,
      after,
    };
  });
}
