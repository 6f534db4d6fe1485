/**
 * Ends pending requests inside the transaction of what decided them, with their continuations: each becomes a job, or
 * is dropped. INVARIANT: whoever settles a request also sees to all of its continuations.
 */
import type { PermissionDecision, RequestStatus, Resolution } from "@sallyport/contract";
import type { AskedRequest, Json, StoreTransaction } from "@sallyport/store";
import { type UnchainedEvent, resolvedEvent } from "./access-events.ts";
import type { NodeParts } from "./node-parts.ts";
import { tupleOf } from "./policy-rows.ts";
import type { ActionFacts } from "./shared-facts.ts";

export interface Settling {
  readonly to: Exclude<RequestStatus, "pending">;
  readonly decidedBy: Json;
  readonly reason: string | null;
  readonly approvalId: string | null;
  readonly nowMs: number;
  readonly facts: ActionFacts;
  readonly decision: PermissionDecision;
  /** A request that was seen, under its lock, to have nothing that goes on after it. */
  readonly endsThere?: AskedRequest | null;
}

const RESOLUTIONS: Readonly<Record<Settling["to"], Resolution>> = {
  approved_session: "allowed",
  approved_permanent: "allowed",
  denied: "denied",
  expired: "timed_out",
  cancelled: "cancelled",
};

/** The number of jobs, or `null` where somebody else settled it first. */
export async function settleRequest(
  parts: NodeParts,
  tx: StoreTransaction,
  request: AskedRequest,
  settling: Settling,
  record: (event: UnchainedEvent) => void,
): Promise<number | null> {
  const { to, decidedBy, reason, approvalId, nowMs } = settling;
  const isSettled = await tx.requests.settle(request.id, {
    from: "pending",
    to,
    decidedBy,
    decidedAtMs: nowMs,
    reason,
    approvalId,
  });
  if (!isSettled) return null;
  const jobs = request === settling.endsThere ? 0 : await settleContinuations(parts, tx, request, settling);
  record(
    resolvedEvent(parts.audit.stamp(), {
      permissionState: settling.facts.permissionState,
      sandboxProfile: settling.facts.sandboxProfile,
      requestId: request.id,
      resolution: RESOLUTIONS[to],
      tuple: tupleOf(request),
      origin: request,
      decision: settling.decision,
      code: null,
    }),
  );
  return jobs;
}

async function settleContinuations(
  parts: NodeParts,
  tx: StoreTransaction,
  request: AskedRequest,
  { approvalId, nowMs }: Settling,
): Promise<number> {
  let jobs = 0;
  for (const continuation of await tx.continuations.listOf(request.id)) {
    const { id, state, action } = continuation;
    if (state !== "waiting" && state !== "taken_by_waiter") continue;
    if (approvalId === null || action === null) {
      await tx.continuations.setState(id, state, "dropped");
      continue;
    }
    // WHY: a live waiter has the first word; where it died with its node the job goes on after the grace.
    const nextAtMs = state === "waiting" ? nowMs : nowMs + parts.limits.waiterGraceMs;
    const isMade = await tx.jobs.insert({
      id: parts.newId("job"),
      continuationId: id,
      requestId: request.id,
      approvalId,
      action,
      ownerModule: parts.actions.get(action)?.module ?? "",
      nextAtMs,
      idempotencyKey: `resume-${id}`,
      createdMs: nowMs,
    });
    if (isMade) jobs += 1;
    await tx.continuations.setState(id, state, "job_made");
  }
  return jobs;
}
