/**
 * Waiting for a request by its id. Only whoever made the request may wait for it: the answer to anybody else is the
 * same as for a request that does not exist.
 */
import type { WaitAnswer } from "@sallyport/contract";
import { resolvedEvent, actionFacts } from "./access-events.ts";
import { type CallerContext, type Wait, originOf, policyContext, sessionOf } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";
import { tupleOf } from "./policy-rows.ts";
import { serviceDecision } from "./service-decision.ts";
import { watchedWait } from "./watched.ts";

export type { WaitAnswer } from "@sallyport/contract";

export async function waitForRequest(
  parts: NodeParts,
  caller: CallerContext,
  requestId: string,
  wait: Wait,
): Promise<WaitAnswer> {
  if (!caller.interactive) return { outcome: "not_interactive" };
  const request = await parts.store.read((tx) => tx.requests.get(requestId));
  const session = sessionOf(caller);
  const isOwn =
    request !== null &&
    request.organizationId === session.organizationId &&
    request.userId === session.userId &&
    request.sessionKey === session.sessionKey;
  if (!isOwn) return { outcome: "not_found" };
  const waited = await watchedWait(parts, requestId, wait);
  if (waited.kind === "unknown") return { outcome: "not_found" };
  if (waited.kind === "settled") {
    const { status } = waited.request;
    if (status.startsWith("approved")) return { outcome: "allowed" };
    return { outcome: status === "denied" ? "denied" : "timed_out" };
  }
  const facts = actionFacts(caller, policyContext(caller, nodeState(parts)), parts.live.facts);
  const event = resolvedEvent(parts.audit.stamp(), {
    ...facts,
    requestId,
    resolution: waited.kind,
    tuple: tupleOf(request),
    origin: originOf(caller),
    decision: serviceDecision(
      parts,
      request,
      "timeout",
      "the caller stopped waiting; the request stays open",
    ),
    code: waited.kind === "timed_out" ? "approval_timeout" : null,
  });
  await parts.audit.recordDurably(event).catch(() => parts.audit.record(event));
  return { outcome: waited.kind };
}
