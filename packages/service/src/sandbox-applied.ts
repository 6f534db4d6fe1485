/**
 * Puts on record what stands around a program before it runs. Trusts the host for the profile in the caller's context.
 * INVARIANT: durable, or an error: no program runs under a wall that nobody can look up later.
 */
import { type CallerContext, originOf, policyContext } from "./caller-context.ts";
import { actionFacts, appliedEvent } from "./access-events.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";

export async function recordSandbox(parts: NodeParts, caller: CallerContext): Promise<void> {
  const active = caller.frames.at(-1);
  if (active === undefined)
    throw new TypeError("nobody acts: apply a sandbox for the subject that runs in it");
  const facts = actionFacts(caller, policyContext(caller, nodeState(parts)), parts.live.facts);
  const event = appliedEvent(parts.audit.stamp(), {
    ...facts,
    subject: active.subject,
    phase: active.phase,
    origin: originOf(caller),
  });
  await parts.audit.recordDurably(event);
}
