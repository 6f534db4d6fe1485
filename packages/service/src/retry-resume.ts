/** A parked resume gets another chance: a person looked at its last error. */
import type { CallerContext } from "./caller-context.ts";
import { type ChangeAnswer, changePolicy } from "./change-policy.ts";
import { refusal } from "./decision-request.ts";
import type { NodeParts } from "./node-parts.ts";

export async function retryResume(
  parts: NodeParts,
  caller: CallerContext,
  jobId: string,
): Promise<ChangeAnswer> {
  const answer = await changePolicy(parts, caller, "retry_resume", async (tx) => {
    const job = await tx.jobs.get(jobId);
    if (job === null) return refusal("not_found", "there is no such resume: list the parked ones");
    if (!(await tx.jobs.retry(jobId, parts.clock.nowMs()))) return null;
    return {
      ok: true,
      changed: [],
      tuple: null,
      requestId: job.requestId,
      before: { job_id: jobId, state: job.state, attempts: job.attempts, last_error: job.lastError },
      after: { job_id: jobId, state: "ready" },
    };
  });
  if (answer.ok && !answer.repeated) parts.jobsMade();
  return answer;
}
