/**
 * The resume outbox. A job is made in the transaction of its approval, runs at least once, and is leased to one
 * executor at a time. Every verb of a lease is fenced: a lease that was lost changes nothing any more.
 */
import type { Page, PageRequest, SessionIdentity } from "./vocabulary.ts";

export const JOB_STATES = ["ready", "leased", "done", "parked"] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface JobRow {
  readonly id: string;
  readonly continuationId: string;
  readonly requestId: string;
  readonly approvalId: string;
  readonly action: string;
  /** The module that registered the action. */
  readonly ownerModule: string;
  readonly state: JobState;
  /** How often it was claimed since it was made or retried. */
  readonly attempts: number;
  /** Rises with every claim, for ever: it tells one lease from an older one of the same owner. */
  readonly leaseNumber: number;
  readonly leaseOwner: string | null;
  readonly leaseUntilMs: number | null;
  readonly nextAtMs: number;
  readonly lastError: string | null;
  readonly idempotencyKey: string;
  readonly createdMs: number;
  readonly finishedMs: number | null;
}

export type NewJob = Omit<
  JobRow,
  "state" | "attempts" | "leaseNumber" | "leaseOwner" | "leaseUntilMs" | "lastError" | "finishedMs"
>;

export interface Claim {
  readonly owner: string;
  readonly nowMs: number;
  readonly leaseMs: number;
  readonly limit: number;
  /** Jobs of these actions and no others: whoever does not know an action must not use up its attempts. */
  readonly actions: readonly string[];
  /** Only what was asked for in this session; for executors that serve one. */
  readonly session?: SessionIdentity | undefined;
}

/** The part of a claimed row that proves the lease. */
export interface JobLease {
  readonly id: string;
  readonly owner: string;
  readonly leaseNumber: number;
}

export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly requestId?: string | undefined;
  readonly approvalId?: string | undefined;
}

export interface JobReader {
  get(id: string): Promise<JobRow | null>;
  /** By (created, id). */
  list(filter: JobFilter, page: PageRequest): Promise<Page<JobRow>>;
}

export interface JobVerbs extends JobReader {
  /** False where the continuation has its job already. */
  insert(job: NewJob): Promise<boolean>;
  /** Jobs that are due or whose lease has run out, each leased to exactly one claimer. */
  claim(claim: Claim): Promise<readonly JobRow[]>;
  renew(lease: JobLease, leaseUntilMs: number): Promise<boolean>;
  complete(lease: JobLease, nowMs: number): Promise<boolean>;
  /** Ready again at `nextAtMs`. */
  fail(lease: JobLease, next: { readonly nextAtMs: number; readonly error: string }): Promise<boolean>;
  /** Given back as if it had not been claimed; ready again at `nextAtMs`. */
  release(lease: JobLease, nextAtMs: number): Promise<boolean>;
  /** Set aside until a person says `retry`. */
  park(lease: JobLease, why: { readonly nowMs: number; readonly error: string }): Promise<boolean>;
  /** A parked job becomes ready with its attempts at zero. */
  retry(id: string, nowMs: number): Promise<boolean>;
}
