/** The end of set-up: once, for good, on every node. */
import type { CallerContext } from "./caller-context.ts";
import { type ChangeAnswer, changePolicy } from "./change-policy.ts";
import type { NodeParts } from "./node-parts.ts";
import { SETUP_SETTING } from "./node-state.ts";
import { actorOf, personJson } from "./policy-event.ts";

export function completeSetup(parts: NodeParts, caller: CallerContext): Promise<ChangeAnswer> {
  return changePolicy(parts, caller, "complete_setup", async (tx) => {
    const nowMs = parts.clock.nowMs();
    const after = { completed_at_ms: nowMs, by: personJson(actorOf(caller)) };
    if (!(await tx.settings.setIfAbsent(SETUP_SETTING, after, nowMs))) return null;
    return { ok: true, changed: [{ kind: "setting", id: SETUP_SETTING }], tuple: null, before: null, after };
  });
}
