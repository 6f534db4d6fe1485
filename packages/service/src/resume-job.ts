/**
 * How a leased job ends or goes on: done, tried again later, set aside. Every verb is fenced by its lease: whoever lost it
 * changes nothing. A resume that fails never undoes its approval.
 */
import type { JobLease, JobRow, StoreTransaction } from "@sallyport/store";
import { maskMessage } from "./audit/event-masking.ts";
import type { NodeParts } from "./node-parts.ts";
import { type ResumeCheck, checkResume } from "./resume-check.ts";

const ERROR_LENGTH_MAX = 1000;
const DIED = "its executor died or lost its lease every time: look at the action, then retry";

/** WHY: leases of several nodes are compared by the one clock that they share. */
export async function leaseClock(
  { store, clock }: NodeParts,
  tx: Pick<StoreTransaction, "nowMs">,
): Promise<number> {
  return store.engine === "sqlite" ? clock.nowMs() : tx.nowMs();
}

/** WHY: claims are counted before the run, so that an action that kills its process is parked like any other. */
export function tiredCheck(
  { limits }: NodeParts,
  { attempts, lastError }: JobRow,
): Extract<ResumeCheck, { readonly kind: "park" }> | undefined {
  return attempts > limits.attemptsMax ? { kind: "park", error: lastError ?? DIED } : undefined;
}

/**
 * The second look, under a lease that begins anew with it. `undefined`: it was lost meanwhile.
 * INVARIANT: whoever runs a job held its lease when it was looked at, however long it waited after its claim.
 */
export function lookAgain(parts: NodeParts, job: JobRow, lease: JobLease): Promise<ResumeCheck | undefined> {
  return parts.store.transaction(async (tx) => {
    const untilMs = (await leaseClock(parts, tx)) + parts.limits.jobLeaseMs;
    return (await tx.jobs.renew(lease, untilMs)) ? checkResume(parts, tx, job) : undefined;
  });
}

export function keepJob(parts: NodeParts, lease: JobLease): Promise<boolean> {
  return parts.store.transaction(async (tx) =>
    tx.jobs.renew(lease, (await leaseClock(parts, tx)) + parts.limits.jobLeaseMs),
  );
}

export function completeJob(parts: NodeParts, lease: JobLease): Promise<boolean> {
  return parts.store.transaction(async (tx) => tx.jobs.complete(lease, await leaseClock(parts, tx)));
}

/** What the second look found, where it was not "run". */
export async function settleJob(
  parts: NodeParts,
  job: JobRow,
  lease: JobLease,
  check: Exclude<ResumeCheck, { readonly kind: "run" }>,
): Promise<void> {
  await parts.store.transaction(async (tx) => {
    const nowMs = await leaseClock(parts, tx);
    switch (check.kind) {
      case "taken":
        await tx.jobs.complete(lease, nowMs);
        return;
      case "park":
        await tx.jobs.park(lease, { nowMs, error: check.error });
        return;
      case "later":
        await tryLater(parts, tx, job, lease, nowMs, check.error);
        return;
      case "elsewhere":
        // INVARIANT: who does not know an action uses up none of its attempts.
        await tx.jobs.release(lease, nowMs);
    }
  });
}

/** `false`: the lease is lost. */
export function failJob(parts: NodeParts, lease: JobLease, error: string): Promise<boolean> {
  const shown = maskMessage(error, parts.maskingKey).slice(0, ERROR_LENGTH_MAX);
  return parts.store.transaction(async (tx) => {
    const job = await tx.jobs.get(lease.id);
    return job !== null && tryLater(parts, tx, job, lease, await leaseClock(parts, tx), shown);
  });
}

function tryLater(
  { limits }: NodeParts,
  { jobs }: Pick<StoreTransaction, "jobs">,
  { attempts }: JobRow,
  lease: JobLease,
  nowMs: number,
  error: string,
): Promise<boolean> {
  const { attemptsMax, backoffMs, backoffMaxMs } = limits;
  if (attempts >= attemptsMax) return jobs.park(lease, { nowMs, error });
  const waitMs = Math.min(backoffMs * 2 ** (attempts - 1), backoffMaxMs);
  return jobs.fail(lease, { nextAtMs: nowMs + waitMs, error });
}
