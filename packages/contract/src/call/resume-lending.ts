/**
 * Resumes that remote hosts run: what such a host offers, and what it is lent. A host is known by its credential, which
 * says for which modules it may run actions and whose session it serves. What it says of a lease is fenced.
 */
import type { Subject } from "../subject.ts";
import type { CallerSession } from "./caller.ts";

/** The remote host behind a call, as its credential names it. */
export interface ResumeHolder {
  readonly credentialId: string;
  /** Modules whose actions it may run. */
  readonly modules: readonly string[];
  /** It is lent what was asked for in this session, and nothing else. */
  readonly session: CallerSession;
}

export interface OfferedAction {
  readonly name: string;
  readonly module: string;
  /** Subjects of other modules that may name it, in the session of the host. */
  readonly openTo: readonly Subject[];
}

export interface LentJob {
  readonly jobId: string;
  /** Tells this lease from an older one. */
  readonly leaseNumber: number;
  readonly action: string;
  readonly module: string;
  readonly idempotencyKey: string;
  /** Of the one who asked; user, organization and session are those of the credential. */
  readonly taskId: string | null;
  /** Plain JSON. */
  readonly context: unknown;
}

export type JobLending = Pick<LentJob, "jobId" | "leaseNumber">;

export type LendAnswer =
  | { readonly ok: true; readonly leaseMs: number; readonly jobs: readonly LentJob[] }
  | {
      readonly ok: false;
      readonly code: "permission_error" | "invalid_operation";
      readonly message: string;
    };

export interface ResumeLending {
  /** Takes the offer, and lends jobs of these actions that are due. */
  lend(holder: ResumeHolder, offered: readonly OfferedAction[], limit: number): Promise<LendAnswer>;
  /** `false`, here and below: the lease is lost. */
  renew(holder: ResumeHolder, lending: JobLending): Promise<boolean>;
  complete(holder: ResumeHolder, lending: JobLending): Promise<boolean>;
  fail(holder: ResumeHolder, lending: JobLending, error: string): Promise<boolean>;
}
