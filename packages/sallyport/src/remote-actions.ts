/**
 * Resume actions of a remote host: offered to the server, run here. A job is lent under a lease that is renewed while its
 * handler runs; before it is over, or where it is lost, the handler is told to stop. At least once, with an idempotency key.
 * Trusts the server for the job; runs it as the module of the action, for the session of the credential.
 */
import type { JobClient, RuntimeCredential } from "@sallyport/client";
import {
  BLANK_CALLER,
  type CallerContext,
  type LentJob,
  type OfferedAction,
  type Subject,
} from "@sallyport/contract";
import type { HostAction, Runtime } from "@sallyport/runtime";
import { HeldLease, type HeldLeaseOptions } from "@sallyport/service";

export interface RemoteActionParts {
  readonly client: JobClient;
  /** Whose session the host serves. */
  readonly grant: RuntimeCredential["grant"];
  readonly enterResume: Runtime["enterResume"];
  /** For the host's own log: offers that were refused. Must not throw. */
  readonly onFault: (error: unknown) => void;
  readonly pollMs?: number | undefined;
}

type OwnedAction = HostAction & { readonly module: string };

const JOBS_AT_ONCE = 4;
const POLL_MS = 1000;

export class RemoteActions {
  readonly #parts: RemoteActionParts;
  readonly #fresh = new Map<string, OwnedAction>();
  readonly #taken = new Map<string, OwnedAction>();
  readonly #held = new Set<HeldLease>();
  readonly #running = new Set<Promise<void>>();
  #turn: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: RemoteActionParts) {
    this.#parts = parts;
  }

  register(action: OwnedAction): void {
    this.#taken.delete(action.name);
    this.#fresh.set(action.name, action);
    this.#plan(0);
  }

  /** Resolves when what was registered is known to the server, or cannot be made known now. */
  async offered(): Promise<void> {
    if (this.#fresh.size > 0) await this.#take();
  }

  /** Lets what runs finish; jobs that were not begun stay for whoever comes next. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#turn;
    for (const held of this.#held) held.stop();
    await Promise.all(this.#running);
  }

  #plan(afterMs: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.#take().finally(() => this.#plan(this.#parts.pollMs ?? POLL_MS));
    }, afterMs).unref();
  }

  /** One turn at a time; whoever comes meanwhile waits for it, and then for one of its own. */
  async #take(): Promise<void> {
    await this.#turn;
    this.#turn ??= this.#offerAndLend().finally(() => {
      this.#turn = undefined;
    });
    await this.#turn;
  }

  async #offerAndLend(): Promise<void> {
    for (const action of this.#fresh.values()) {
      const answer = await this.#parts.client.lendJobs([offerOf(action)], 0);
      if (answer === undefined) return;
      // INVARIANT: one that is refused does not keep the others from being offered.
      if (this.#fresh.get(action.name) === action) this.#fresh.delete(action.name);
      if (answer.ok) this.#taken.set(action.name, action);
      else this.#parts.onFault(new Error(answer.message));
    }
    const room = JOBS_AT_ONCE - this.#running.size;
    if (room <= 0 || this.#taken.size === 0 || this.#isClosed) return;
    const sinceMs = performance.now();
    const answer = await this.#parts.client.lendJobs(Array.from(this.#taken.values(), offerOf), room);
    if (answer === undefined) return;
    if (answer.ok) for (const job of answer.jobs) this.#begin(job, { leaseMs: answer.leaseMs, sinceMs });
    else this.#offerAgain();
  }

  /** WHY: one of them is refused by now; which one, is found out by offering each by itself. */
  #offerAgain(): void {
    for (const [name, action] of this.#taken) if (!this.#fresh.has(name)) this.#fresh.set(name, action);
    this.#taken.clear();
  }

  #begin(job: LentJob, lent: Pick<HeldLeaseOptions, "leaseMs" | "sinceMs">): void {
    const run = this.#run(job, lent).finally(() => {
      this.#running.delete(run);
      this.#plan(0);
    });
    this.#running.add(run);
  }

  async #run(job: LentJob, lent: Pick<HeldLeaseOptions, "leaseMs" | "sinceMs">): Promise<void> {
    const { client, enterResume } = this.#parts;
    const held = new HeldLease({
      ...lent,
      monotonicMs: () => performance.now(),
      renew: () => client.settleJob(job, { outcome: "kept" }),
    });
    const { signal } = held;
    this.#held.add(held);
    try {
      // INVARIANT: an answer that took as long as the lease begins nothing; somebody else may have begun.
      if (signal.aborted) return;
      const action = this.#taken.get(job.action);
      if (action === undefined)
        throw new Error(`the action \`${job.action}\` is not registered here any more`);
      const run = { idempotencyKey: job.idempotencyKey, signal };
      await enterResume(this.#callerOf(job), () => action.handler(job.context, run));
    } catch (error) {
      const text = error instanceof Error ? `${error.name}: ${error.message}` : "the action threw no error";
      await client.settleJob(job, { outcome: "failed", error: text });
      return;
    } finally {
      held.release();
      this.#held.delete(held);
    }
    await client.settleJob(job, { outcome: "done" });
  }

  /** INVARIANT: the module of the action, for the session of the credential, without roles, and nobody to ask. */
  #callerOf({ module, taskId }: LentJob): CallerContext {
    const { userId, organizationId, sessionKey } = this.#parts.grant;
    const subject = { type: "module", name: module } as Subject;
    return Object.freeze<CallerContext>({
      ...BLANK_CALLER,
      frames: [{ subject, phase: "runtime", entry: "host", contracts: [] }],
      user: userId === null ? null : { id: userId, roles: [], accessLevel: null },
      organizationId,
      sessionKey,
      taskId,
    });
  }
}

function offerOf({ name, module, openTo }: OwnedAction): OfferedAction {
  return { name, module, openTo };
}
