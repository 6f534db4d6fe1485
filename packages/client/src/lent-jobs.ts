/**
 * Resumes that a server lends to this host, in the words that travel. What does not arrive, or is not of its form, is no
 * job; a lease of which nothing is known counts as neither held nor lost.
 */
import type { JobLending, LendAnswer, OfferedAction } from "@sallyport/contract";
import { lendJobsWire, lentJobsWire, settleJobWire, settledJobWire } from "@sallyport/contract/remote";
import type { Incoming } from "./transport.ts";

export type JobOutcome =
  | { readonly outcome: "kept" | "done" }
  | { readonly outcome: "failed"; readonly error: string };

export interface JobClient {
  /** Offers the actions and is lent jobs of them. `undefined`: the server cannot be reached. */
  lendJobs(offered: readonly OfferedAction[], limit: number): Promise<LendAnswer | undefined>;
  /** `false`: the lease is lost. `undefined`: the server cannot be reached. */
  settleJob(lending: JobLending, outcome: JobOutcome): Promise<boolean | undefined>;
}

const ERROR_LENGTH_MAX = 1000;

export function lendWords(actions: readonly OfferedAction[], limit: number): object {
  return lendJobsWire.format({ actions, limit });
}

export function settleWords({ jobId, leaseNumber }: JobLending, how: JobOutcome): object {
  const lending = { jobId, leaseNumber };
  const words =
    how.outcome === "failed"
      ? { ...lending, outcome: how.outcome, error: how.error.slice(0, ERROR_LENGTH_MAX) || "no message" }
      : { ...lending, outcome: how.outcome };
  return settleJobWire.format(words);
}

/** The server said no, and will again; a server that is busy or cannot answer now has not said so. */
function isRefusal(incoming: Incoming): incoming is Extract<Incoming, { readonly kind: "problem" }> {
  return incoming.kind === "problem" && incoming.status < 500 && incoming.code !== "request_limit";
}

export function lendAnswerOf(incoming: Incoming): LendAnswer | undefined {
  if (isRefusal(incoming)) {
    const code = incoming.code === "permission_error" ? incoming.code : "invalid_operation";
    return Object.freeze({ ok: false, code, message: incoming.detail });
  }
  const parsed = incoming.kind === "answer" ? lentJobsWire.parse(incoming.json) : undefined;
  if (parsed?.ok !== true) return undefined;
  const { leaseMs, jobs } = parsed.value;
  try {
    const lent = jobs.map(({ context, ...job }) => ({ ...job, context: JSON.parse(context) as unknown }));
    return Object.freeze({ ok: true, leaseMs, jobs: Object.freeze(lent) });
  } catch {
    return undefined;
  }
}

export function isHeldIn(incoming: Incoming): boolean | undefined {
  if (isRefusal(incoming)) return false;
  const parsed = incoming.kind === "answer" ? settledJobWire.parse(incoming.json) : undefined;
  return parsed?.ok === true ? parsed.value.held : undefined;
}
