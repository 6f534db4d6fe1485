/** The verbs of the service with a span and a metric around them. Changes no answer. */
import type { ExternalAccessCheck, PolicyAction } from "@sallyport/contract";
import type { JobRow } from "@sallyport/store";
import type { Ask, CallerContext, Wait } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { askAttributes, subjectAttributes } from "./telemetry.ts";
import type { Waiters } from "./wait.ts";

export async function watchedCheck(
  { telemetry, maskingKey }: NodeParts,
  name: "sallyport.check" | "sallyport.require",
  asked: { readonly caller: CallerContext; readonly ask: Ask },
  work: () => Promise<ExternalAccessCheck>,
): Promise<ExternalAccessCheck> {
  const { caller, ask } = asked;
  const attributes = () => ({
    ...subjectAttributes(caller.frames.at(-1)?.subject),
    ...askAttributes(ask, maskingKey),
  });
  const check = await telemetry.span({ name, attributes, outcome: ({ code }) => code }, work);
  if (name === "sallyport.check") telemetry.checked(check.code);
  return check;
}

/** `ok`, or the code of the refusal. */
type Answer = { readonly ok: true } | { readonly ok: false; readonly code: string };

export async function watchedAct<T extends Answer>(
  { telemetry }: NodeParts,
  action: PolicyAction,
  work: () => Promise<T>,
): Promise<T> {
  const outcome = (answer: Answer): string => (answer.ok ? "ok" : answer.code);
  const name = action.startsWith("revoke") ? "sallyport.revoke" : "sallyport.decide";
  const attributes = () => ({ "sallyport.action": action });
  const answer = await telemetry.span({ name, attributes, outcome }, work);
  telemetry.decided(action, outcome(answer));
  return answer;
}

const kindOf = ({ kind }: { readonly kind: string }): string => kind;

export async function watchedWait(
  { telemetry, waiters, clock }: NodeParts,
  requestId: string,
  wait: Wait,
): ReturnType<Waiters["wait"]> {
  const startMs = clock.monotonicMs();
  const attributes = () => ({ "sallyport.request.id": requestId });
  const waited = await telemetry.span({ name: "sallyport.wait", attributes, outcome: kindOf }, () =>
    waiters.wait(requestId, wait),
  );
  telemetry.waited(clock.monotonicMs() - startMs, waited.kind);
  return waited;
}

/** `work` says how it ended. */
export async function watchedResume(
  { telemetry }: NodeParts,
  job: JobRow,
  work: () => Promise<string>,
): Promise<void> {
  const attributes = () => ({
    "sallyport.resume.action": job.action,
    "sallyport.resume.attempt": job.attempts,
  });
  telemetry.resumed(await telemetry.span({ name: "sallyport.resume", attributes, outcome: String }, work));
}
