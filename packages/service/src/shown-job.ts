/**
 * A job as a person sees it. One that is due and that this node cannot run says what it waits for: nobody uses up its
 * attempts meanwhile, and without a word it would look as if nothing happened. The stored row is left alone.
 */
import type { JobRow } from "@sallyport/store";
import type { NodeParts } from "./node-parts.ts";

const WAITING_FOR_HOST = "waiting for a host that knows this action: start one that registers it";
const WAITING_FOR_REMOTE = "waiting for the remote host that offered this action: start it again";

export function shownJob({ actions, clock }: Pick<NodeParts, "actions" | "clock">, job: JobRow): JobRow {
  if (job.state !== "ready" || job.nextAtMs > clock.nowMs()) return job;
  const known = actions.get(job.action);
  if (known !== undefined && known.handler !== null) return job;
  const waiting = known === undefined ? WAITING_FOR_HOST : WAITING_FOR_REMOTE;
  const lastError = job.lastError === null ? waiting : `${waiting}; it failed before: ${job.lastError}`;
  return Object.freeze({ ...job, lastError });
}
