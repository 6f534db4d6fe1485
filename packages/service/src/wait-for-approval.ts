/**
 * A check that waits for its request. The decision wakes it; its own timeout is an outcome of its own, recorded for
 * this caller while the request stays open. A waiter that gets its approval takes its continuation with it.
 */
import type { ExternalAccessCheck } from "@sallyport/contract";
import { resolvedEvent } from "./access-events.ts";
import { type Wait, isAccess, originOf } from "./caller-context.ts";
import type { Judge, Judged } from "./judge.ts";
import type { NodeParts } from "./node-parts.ts";
import { watchedWait } from "./watched.ts";

export interface AwaitedRequest {
  readonly requestId: string;
  readonly continuationId: string | null;
  readonly wait: Wait;
}

/** `null`: it was decided; check again to learn how. */
export async function waitForApproval(
  parts: NodeParts,
  judge: Judge,
  judged: Judged,
  { requestId, continuationId, wait }: AwaitedRequest,
): Promise<ExternalAccessCheck | null> {
  const waited = await watchedWait(parts, requestId, wait);
  const status = waited.kind === "settled" ? waited.request.status : null;
  const isApproved = status === "approved_session" || status === "approved_permanent";
  if (continuationId !== null && !(await settleContinuation(parts, continuationId, { isApproved }))) {
    return judged.answer(requestId, "it was approved, and its resume action goes on with the work");
  }
  if (isApproved || status === "denied") return null;
  const resolution = waited.kind === "cancelled" ? "cancelled" : "timed_out";
  await recordGivenUp(parts, judge, judged, requestId, resolution);
  if (resolution === "cancelled") return judged.answer(requestId, "the caller stopped waiting");
  return judge.instead(judged, "approval_timeout", "denied", "timeout").answer(requestId);
}

/**
 * A waiter that got its approval takes its continuation, so that no job runs as well; one that gave up leaves it.
 * `false`: the job was faster, and does the work.
 */
function settleContinuation(
  parts: NodeParts,
  id: string,
  { isApproved }: { readonly isApproved: boolean },
): Promise<boolean> {
  return parts.store.transaction(async (tx) => {
    if (!isApproved) {
      await tx.continuations.setState(id, "taken_by_waiter", "waiting");
      return true;
    }
    // INVARIANT: takes the row's lock before it looks at the job; the executor takes the same lock before it runs.
    if (!(await tx.continuations.setState(id, "job_made", "taken_by_waiter"))) return true;
    const continuation = await tx.continuations.get(id);
    const jobs = await tx.jobs.list({ requestId: continuation?.requestId }, { limit: 1000 });
    const job = jobs.rows.find((row) => row.continuationId === id);
    if (job === undefined || job.state === "ready") return true;
    await tx.continuations.setState(id, "taken_by_waiter", "job_made");
    return false;
  });
}

async function recordGivenUp(
  { audit }: NodeParts,
  judge: Judge,
  judged: Judged,
  requestId: string,
  resolution: "timed_out" | "cancelled",
): Promise<void> {
  const { caller, subject } = judged;
  const { access } = judged.ask;
  if (!isAccess(access) || subject === null) return;
  const { resourceType, operation, target } = access;
  const event = resolvedEvent(audit.stamp(), {
    ...judge.facts(judged),
    requestId,
    resolution,
    tuple: { subject, resourceType, operation, target: target.text },
    origin: originOf(caller),
    decision: judged.answer(requestId).decision,
    code: resolution === "timed_out" ? "approval_timeout" : null,
  });
  await audit.recordDurably(event);
}
