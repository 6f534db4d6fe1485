/** Requests that waited too long end as `expired`: a status of its own, and never a person's denial. */
import { actionFacts } from "./access-events.ts";
import { THE_SERVICE, policyContext } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";
import { serviceDecision } from "./service-decision.ts";
import { settleRequest } from "./settle-requests.ts";

const BATCH_LIMIT = 100;

/** How many expired. */
export async function expireRequests(parts: NodeParts): Promise<number> {
  let expired = 0;
  for (;;) {
    const nowMs = parts.clock.nowMs();
    const facts = actionFacts(THE_SERVICE, policyContext(THE_SERVICE, nodeState(parts)), parts.live.facts);
    const batch = await parts.audit.transaction(async (tx, record) => {
      const due = await tx.requests.due(nowMs, BATCH_LIMIT);
      for (const request of due) {
        const decision = serviceDecision(
          parts,
          request,
          "timeout",
          "nobody decided before the request expired",
        );
        const settling = { to: "expired", decidedBy: null, reason: null, approvalId: null } as const;
        await settleRequest(parts, tx, request, { ...settling, nowMs, facts, decision }, record);
      }
      return due.length;
    });
    expired += batch;
    if (batch < BATCH_LIMIT) break;
  }
  if (expired > 0) parts.waiters.notify();
  return expired;
}
