/**
 * Runs resumes: claims jobs with a lease, looks a second time, runs the handler, completes, tries again later or
 * parks. At least once, with an idempotency key; never two at the same time, because a lease that is lost aborts its
 * run and every verb of it is fenced. A resume that fails never undoes its approval.
 */
import type { JobLease, JobRow } from "@sallyport/store";
import type { ResumeRun } from "./actions.ts";
import { maskMessage } from "./audit/event-masking.ts";
import type { CallerContext } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { type ResumeCheck, checkResume } from "./resume-check.ts";
import { watchedResume } from "./watched.ts";

/** Enters the runtime as a caller and gives what its code works with. */
export type EnterCaller = <T>(caller: CallerContext, work: (sdk: unknown) => Promise<T>) => Promise<T>;

const JOBS_AT_ONCE = 4;
const POLL_MS = 1000;
const ERROR_LENGTH_MAX = 1000;
const DIED = "its executor died or lost its lease every time: look at the action, then retry";

export class ResumeExecutor {
  readonly #parts: NodeParts;
  readonly #enter: EnterCaller;
  readonly #running = new Set<Promise<void>>();
  readonly #aborts = new Set<AbortController>();
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
    for (const abort of this.#aborts) abort.abort();
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

  #claim(limit: number): Promise<readonly JobRow[]> {
    const { store, nodeId, limits } = this.#parts;
    return store.transaction(async (tx) =>
      tx.jobs.claim({ owner: nodeId, nowMs: await this.#nowMs(tx), leaseMs: limits.jobLeaseMs, limit }),
    );
  }

  /** WHY: leases of several nodes are compared by the one clock that they share. */
  async #nowMs(tx: { nowMs(): Promise<number> }): Promise<number> {
    return this.#parts.store.engine === "sqlite" ? this.#parts.clock.nowMs() : tx.nowMs();
  }

  #run(job: JobRow): Promise<void> {
    return watchedResume(this.#parts, job, () => this.#ran(job));
  }

  /** How it ended, for whoever watches. */
  async #ran(job: JobRow): Promise<"ran" | "parked" | "not_run" | "fault"> {
    const lease: JobLease = { id: job.id, owner: this.#parts.nodeId, leaseNumber: job.leaseNumber };
    try {
      // WHY: claims are counted before the run, so that an action that kills its process is parked like any other.
      if (job.attempts > this.#parts.limits.attemptsMax) {
        await this.#settle(job, lease, { kind: "park", error: job.lastError ?? DIED });
        return "parked";
      }
      const check = await this.#parts.store.transaction((tx) => checkResume(this.#parts, tx, job));
      if (check.kind === "run") await this.#handle(job, lease, check);
      else await this.#settle(job, lease, check);
      return check.kind === "run" ? "ran" : "not_run";
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
  ): Promise<void> {
    const abort = new AbortController();
    this.#aborts.add(abort);
    const renewal = this.#keep(lease, abort);
    try {
      const { signal } = abort;
      await this.#enter(caller, async (sdk) => {
        const run: ResumeRun = { sdk, idempotencyKey: job.idempotencyKey, caller, signal };
        await action.handler(context, run);
      });
    } catch (error) {
      await this.#failed(job, lease, error);
      return;
    } finally {
      clearInterval(renewal);
      this.#aborts.delete(abort);
    }
    await this.#parts.store.transaction(async (tx) => tx.jobs.complete(lease, await this.#nowMs(tx)));
  }

  /** Renews the lease while the handler runs; where it is lost the handler is told to stop. */
  #keep(lease: JobLease, abort: AbortController): NodeJS.Timeout {
    const { store, limits, clock } = this.#parts;
    let keptMs = clock.monotonicMs();
    const renew = async (): Promise<void> => {
      const startedMs = clock.monotonicMs();
      try {
        const isHeld = await store.transaction(async (tx) =>
          tx.jobs.renew(lease, (await this.#nowMs(tx)) + limits.jobLeaseMs),
        );
        if (isHeld) keptMs = startedMs;
        else abort.abort();
      } catch {
        if (clock.monotonicMs() - keptMs >= limits.jobLeaseMs) abort.abort();
      }
    };
    return setInterval(() => void renew(), Math.max(1, Math.floor(limits.jobLeaseMs / 3))).unref();
  }

  async #settle(
    job: JobRow,
    lease: JobLease,
    check: Exclude<ResumeCheck, { readonly kind: "run" }>,
  ): Promise<void> {
    await this.#parts.store.transaction(async (tx) => {
      const nowMs = await this.#nowMs(tx);
      switch (check.kind) {
        case "taken":
          await tx.jobs.complete(lease, nowMs);
          return;
        case "park":
          await tx.jobs.park(lease, { nowMs, error: check.error });
          return;
        case "later":
          await this.#tryLater(tx.jobs, job, lease, nowMs, check.error);
      }
    });
  }

  async #failed(job: JobRow, lease: JobLease, error: unknown): Promise<void> {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : "the action threw no error";
    const shown = maskMessage(text, this.#parts.maskingKey).slice(0, ERROR_LENGTH_MAX);
    await this.#parts.store.transaction(async (tx) =>
      this.#tryLater(tx.jobs, job, lease, await this.#nowMs(tx), shown),
    );
  }

  async #tryLater(
    jobs: {
      park(lease: JobLease, why: { readonly nowMs: number; readonly error: string }): Promise<boolean>;
      fail(lease: JobLease, next: { readonly nextAtMs: number; readonly error: string }): Promise<boolean>;
    },
    { attempts }: JobRow,
    lease: JobLease,
    nowMs: number,
    error: string,
  ): Promise<void> {
    const { attemptsMax, backoffMs, backoffMaxMs } = this.#parts.limits;
    if (attempts >= attemptsMax) {
      await jobs.park(lease, { nowMs, error });
      return;
    }
    const waitMs = Math.min(backoffMs * 2 ** (attempts - 1), backoffMaxMs);
    await jobs.fail(lease, { nextAtMs: nowMs + waitMs, error });
  }
}
