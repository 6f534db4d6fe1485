/**
 * Runs resumes: claims jobs with a lease, looks a second time, runs the handler, completes, tries again later or
 * parks. At least once, with an idempotency key; never two at the same time, because a run begins only while its lease
 * is held, is aborted before that is over, and every verb of it is fenced. A resume that fails never undoes its approval.
 */
import type { JobLease, JobRow } from "@sallyport/store";
import type { ResumeRun } from "./actions.ts";
import type { CallerContext } from "./caller-context.ts";
import { HeldLease } from "./held-lease.ts";
import type { NodeParts } from "./node-parts.ts";
import type { ResumeCheck } from "./resume-check.ts";
import { completeJob, failJob, keepJob, leaseClock, lookAgain, settleJob, tiredCheck } from "./resume-job.ts";
import { watchedResume } from "./watched.ts";

/** Enters the runtime as a caller and gives what its code works with. */
export type EnterCaller = <T>(caller: CallerContext, work: (sdk: unknown) => Promise<T>) => Promise<T>;

const JOBS_AT_ONCE = 4;
const POLL_MS = 1000;
const STILL_RUNS =
  "its last run lost its lease and has not ended: let the action stop when its signal says so";

export class ResumeExecutor {
  readonly #parts: NodeParts;
  readonly #enter: EnterCaller;
  readonly #running = new Set<Promise<void>>();
  /** Jobs whose handler has not ended, by id. */
  readonly #held = new Map<string, HeldLease>();
  #timer: NodeJS.Timeout | null = null;
  #stopped = true;
  #looking: Promise<void> | null = null;

  constructor(parts: NodeParts, enter: EnterCaller = (_, work) => work(undefined)) {
    this.#parts = parts;
    this.#enter = enter;
  }

  start(): void {
    this.#stopped = false;
    this.#plan(0);
  }

  /** Lets what runs finish; jobs that were not begun stay for whoever comes next. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    for (const held of this.#held.values()) held.stop();
    await Promise.all(this.#running);
  }

  /** Jobs may be there. */
  nudge(): void {
    if (!this.#stopped) this.#plan(0);
  }

  /** Claims and runs what is due, once. How many were claimed. */
  async runDue(): Promise<number> {
    const jobs = await this.#claim(JOBS_AT_ONCE);
    await Promise.all(jobs.map((job) => this.#run(job)));
    return jobs.length;
  }

  #plan(afterMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().catch(() => undefined);
      void this.#looking.finally(() => {
        if (!this.#stopped) this.#plan(POLL_MS);
      });
    }, afterMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const room = JOBS_AT_ONCE - this.#running.size;
    if (room <= 0) return;
    const jobs = await this.#claim(room);
    for (const job of jobs) {
      const run = this.#run(job).finally(() => {
        this.#running.delete(run);
        this.nudge();
      });
      this.#running.add(run);
    }
  }

  /** INVARIANT: only jobs of actions that run in this process; the others wait for whoever knows theirs. */
  async #claim(limit: number): Promise<readonly JobRow[]> {
    const { store, nodeId, limits } = this.#parts;
    const actions = this.#parts.actions.ownNames;
    if (actions.length === 0) return [];
    return store.transaction(async (tx) =>
      tx.jobs.claim({
        owner: nodeId,
        nowMs: await leaseClock(this.#parts, tx),
        leaseMs: limits.jobLeaseMs,
        limit,
        actions,
      }),
    );
  }

  #run(job: JobRow): Promise<void> {
    return watchedResume(this.#parts, job, () => this.#ran(job));
  }

  /** How it ended, for whoever watches. */
  async #ran(job: JobRow): Promise<"ran" | "parked" | "not_run" | "fault"> {
    const lease: JobLease = { id: job.id, owner: this.#parts.nodeId, leaseNumber: job.leaseNumber };
    try {
      const tired = tiredCheck(this.#parts, job);
      if (tired !== undefined) {
        await settleJob(this.#parts, job, lease, tired);
        return "parked";
      }
      if (this.#held.has(job.id)) {
        await settleJob(this.#parts, job, lease, { kind: "later", error: STILL_RUNS });
        return "not_run";
      }
      const sinceMs = this.#parts.clock.monotonicMs();
      const check = await lookAgain(this.#parts, job, lease);
      if (check?.kind === "run") return await this.#handle(job, lease, check, sinceMs);
      if (check !== undefined) await settleJob(this.#parts, job, lease, check);
      return "not_run";
    } catch (error) {
      this.#parts.faulted(error);
      // WHY: the store could not be asked. The lease runs out by itself, and then the job is claimed again.
      return "fault";
    }
  }

  async #handle(
    job: JobRow,
    lease: JobLease,
    { action, context, caller }: Extract<ResumeCheck, { readonly kind: "run" }>,
    sinceMs: number,
  ): Promise<"ran" | "not_run"> {
    const { handler } = action;
    if (handler === null) {
      // WHY: it was offered by a remote host after it was claimed here.
      await settleJob(this.#parts, job, lease, { kind: "elsewhere" });
      return "not_run";
    }
    const { clock, limits } = this.#parts;
    const held = new HeldLease({
      leaseMs: limits.jobLeaseMs,
      sinceMs,
      monotonicMs: () => clock.monotonicMs(),
      renew: () => keepJob(this.#parts, lease),
    });
    const { signal } = held;
    this.#held.set(job.id, held);
    try {
      // INVARIANT: a second look that took as long as the lease begins nothing; somebody else may have begun.
      if (signal.aborted) return "not_run";
      await this.#enter(caller, async (sdk) => {
        const run: ResumeRun = { sdk, idempotencyKey: job.idempotencyKey, caller, signal };
        await handler(context, run);
      });
    } catch (error) {
      const text = error instanceof Error ? `${error.name}: ${error.message}` : "the action threw no error";
      await failJob(this.#parts, lease, text);
      return "ran";
    } finally {
      held.release();
      this.#held.delete(job.id);
    }
    await completeJob(this.#parts, lease);
    return "ran";
  }
}
