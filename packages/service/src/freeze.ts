/**
 * The freeze: everything outside the allowlist is refused at once, on every node, whatever was approved or ruled.
 * A fact in the store that travels like the mode; it takes away and never gives. Host code itself goes on, so that
 * somebody can lift it.
 * INVARIANT: a freeze that cannot be read is one.
 */
import type { Context, Verdict } from "@sallyport/policy";
import type { Json, PrincipalId } from "@sallyport/store";
import type { CallerContext } from "./caller-context.ts";
import { type ChangeAnswer, changePolicy } from "./change-policy.ts";
import type { NodeParts } from "./node-parts.ts";
import { actorOf } from "./policy-event.ts";

export const FREEZE_SETTING = "freeze";

export interface FreezeWords {
  readonly frozen: boolean;
  readonly reason?: string | undefined;
}

export interface Freeze {
  readonly frozen: boolean;
  readonly reason: string | null;
  readonly changedBy: PrincipalId | null;
  readonly changedMs: number | null;
}

const REASON_LENGTH_MAX = 2000;
const NEVER: Freeze = Object.freeze({ frozen: false, reason: null, changedBy: null, changedMs: null });

export function setFreeze(
  parts: NodeParts,
  caller: CallerContext,
  words: FreezeWords,
): Promise<ChangeAnswer> {
  return changePolicy(parts, caller, "set_freeze", async (tx) => {
    const former = await tx.settings.get(FREEZE_SETTING);
    if (freezeOf(former?.value).frozen === words.frozen) return null;
    const nowMs = parts.clock.nowMs();
    const reason = words.reason === undefined ? null : words.reason.slice(0, REASON_LENGTH_MAX) || null;
    const after = { frozen: words.frozen, reason, by: actorOf(caller).userId, at_ms: nowMs };
    await tx.settings.set(FREEZE_SETTING, after, nowMs);
    return {
      ok: true,
      changed: [{ kind: "setting", id: FREEZE_SETTING }],
      tuple: null,
      reason,
      before: former?.value ?? null,
      after,
    };
  });
}

/** As this node knows it. */
export function freezeNow({ live }: Pick<NodeParts, "live">): Freeze {
  return freezeOf(live.facts.setting(FREEZE_SETTING));
}

function freezeOf(held: Json | undefined): Freeze {
  if (held === undefined) return NEVER;
  if (typeof held !== "object" || held === null) return { ...NEVER, frozen: true };
  const { frozen, reason, by, at_ms: atMs } = held as Readonly<Record<string, Json>>;
  return Object.freeze({
    frozen: frozen !== false,
    reason: typeof reason === "string" ? reason : null,
    changedBy: typeof by === "string" || typeof by === "number" ? by : null,
    changedMs: typeof atMs === "number" ? atMs : null,
  });
}

/** Beside the table's words for a refusal by mode. */
export const FROZEN_STEP = "everything outside the allowlist is frozen until an administrator lifts it";

/** What is left of a verdict while everything is frozen: what was declared, and every no. */
export function underFreeze({ frozen }: Freeze, { frames }: Context, verdict: Verdict): Verdict {
  if (!frozen || verdict.code === "allowed_sandbox") return verdict;
  const isOpen = verdict.allowed || verdict.requiresApproval || verdict.registers;
  if (!isOpen) return verdict;
  const active = frames.at(-1);
  if (active?.subject.type === "core" && active.entry === "host") return verdict;
  return Object.freeze({
    code: "denied_mode",
    outcome: "denied",
    allowed: false,
    requiresApproval: false,
    source: "mode",
    frame: verdict.frame,
    refs: [FREEZE_SETTING],
    limited: false,
    registers: false,
  });
}
