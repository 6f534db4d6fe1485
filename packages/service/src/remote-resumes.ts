/**
 * Lends resumes to remote hosts: the same jobs, leases and second look as for the executor of this node. A host is lent
 * jobs of actions that it offers, of modules that its credential names, and of its own session; the sealed context is
 * opened for it alone.
 * Trusts the holder that the server made from the credential; nothing that the host says of a lease changes another's.
 */
import type {
  JobLending,
  LendAnswer,
  LentJob,
  OfferedAction,
  ResumeHolder,
  ResumeLending,
} from "@sallyport/contract";
import type { JobLease, JobRow, SessionIdentity } from "@sallyport/store";
import type { NodeParts } from "./node-parts.ts";
import { completeJob, failJob, keepJob, leaseClock, lookAgain, settleJob, tiredCheck } from "./resume-job.ts";

type Refused = Extract<LendAnswer, { readonly ok: false }>;

export class RemoteResumes implements ResumeLending {
  readonly #parts: NodeParts;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  async lend(holder: ResumeHolder, offered: readonly OfferedAction[], limit: number): Promise<LendAnswer> {
    const problem = this.#offer(holder, offered);
    if (problem !== undefined) return problem;
    const leaseMs = this.#parts.limits.jobLeaseMs;
    const jobs: LentJob[] = [];
    if (limit > 0) {
      const actions = offered.map(({ name }) => name);
      for (const job of await this.#claim(holder, actions, limit)) {
        const lent = await this.#lent(holder, job);
        if (lent !== undefined) jobs.push(lent);
      }
    }
    return Object.freeze({ ok: true, leaseMs, jobs: Object.freeze(jobs) });
  }

  renew(holder: ResumeHolder, lending: JobLending): Promise<boolean> {
    return keepJob(this.#parts, leaseOf(holder, lending));
  }

  complete(holder: ResumeHolder, lending: JobLending): Promise<boolean> {
    return completeJob(this.#parts, leaseOf(holder, lending));
  }

  fail(holder: ResumeHolder, lending: JobLending, error: string): Promise<boolean> {
    return failJob(this.#parts, leaseOf(holder, lending), error);
  }

  /** INVARIANT: an action carries the name of its module, and the credential names that module. */
  #offer(holder: ResumeHolder, offered: readonly OfferedAction[]): Refused | undefined {
    for (const { name, module } of offered) {
      if (!holder.modules.includes(module))
        return refused(
          "permission_error",
          `the credential is not for module \`${module}\`: take one that is`,
        );
      if (!name.startsWith(`${module}.`))
        return refused("invalid_operation", `the action \`${name}\` is not of module \`${module}\``);
    }
    try {
      for (const action of offered) this.#parts.actions.offer(action, sessionOf(holder));
      return undefined;
    } catch (error) {
      return refused(
        "invalid_operation",
        error instanceof TypeError ? error.message : "the offer is refused",
      );
    }
  }

  #claim(holder: ResumeHolder, actions: readonly string[], limit: number): Promise<readonly JobRow[]> {
    const { store, limits } = this.#parts;
    return store.transaction(async (tx) =>
      tx.jobs.claim({
        owner: holder.credentialId,
        nowMs: await leaseClock(this.#parts, tx),
        leaseMs: limits.jobLeaseMs,
        limit,
        actions,
        session: sessionOf(holder),
      }),
    );
  }

  /** `undefined`: it is not to be run, and was settled; or it is somebody else's by now. */
  async #lent(holder: ResumeHolder, job: JobRow): Promise<LentJob | undefined> {
    const { id: jobId, leaseNumber, action, idempotencyKey } = job;
    const lease = leaseOf(holder, { jobId, leaseNumber });
    const check = tiredCheck(this.#parts, job) ?? (await lookAgain(this.#parts, job, lease));
    if (check?.kind !== "run") {
      if (check !== undefined) await settleJob(this.#parts, job, lease, check);
      return undefined;
    }
    const { context, caller } = check;
    const { module } = check.action;
    const { taskId } = caller;
    return Object.freeze({ jobId, leaseNumber, action, module, idempotencyKey, taskId, context });
  }
}

function leaseOf({ credentialId }: ResumeHolder, { jobId, leaseNumber }: JobLending): JobLease {
  return { id: jobId, owner: credentialId, leaseNumber };
}

/** INVARIANT: an empty session key is none. */
function sessionOf({ session }: ResumeHolder): SessionIdentity {
  const { organizationId, userId, sessionKey } = session;
  return { organizationId, userId, sessionKey: sessionKey === "" ? null : sessionKey };
}

function refused(code: Refused["code"], message: string): Refused {
  return Object.freeze({ ok: false, code, message });
}
