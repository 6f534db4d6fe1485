/**
 * The second look before a resume runs: the approval is alive, the session is alive, the action still belongs to the
 * module it belonged to, the subject may still name it, and policy as it is now allows the access.
 * Opens the sealed context; nothing else in the service does.
 */
import { ActiveContext, type Frame, decide } from "@sallyport/policy";
import type { ContinuationRow, JobRow, Json, RequestRow, StoreTransaction } from "@sallyport/store";
import type { KnownAction } from "./actions.ts";
import { type CallerContext, THE_SERVICE, policyContext, standingFrames } from "./caller-context.ts";
import { continuationIdentity } from "./continuation-identity.ts";
import { accessOfTuple } from "./coverage.ts";
import type { NodeParts } from "./node-parts.ts";
import { freezeNow } from "./freeze.ts";
import { nodeState } from "./node-state.ts";
import { openContext } from "./seal/sealed-context.ts";
import { isAlive } from "./spend-approval.ts";

export type ResumeCheck =
  | {
      readonly kind: "run";
      readonly action: KnownAction;
      readonly context: Json;
      readonly caller: CallerContext;
    }
  /** A live waiter did the work. */
  | { readonly kind: "taken" }
  /** Set aside until a person looks at it. */
  | { readonly kind: "park"; readonly error: string }
  /** Not now. */
  | { readonly kind: "later"; readonly error: string }
  /** Not here: the action is not known to this node any more. */
  | { readonly kind: "elsewhere" };

export async function checkResume(parts: NodeParts, tx: StoreTransaction, job: JobRow): Promise<ResumeCheck> {
  // INVARIANT: takes the row's lock, so that a waiter that wakes now and this executor cannot both go on.
  const isOurs = await tx.continuations.setState(job.continuationId, "job_made", "job_made");
  const continuation = await tx.continuations.get(job.continuationId);
  if (continuation === null) return park("its continuation is gone: deny the request, or ask anew");
  if (!isOurs)
    return continuation.state === "taken_by_waiter"
      ? { kind: "taken" }
      : park(`its continuation is ${continuation.state}: ask anew`);
  const request = await tx.requests.get(job.requestId);
  if (request === null) return park("its request is gone: ask anew");
  const approval = await tx.approvals.get(job.approvalId);
  if (approval === null || !isAlive(approval, parts.clock.nowMs()))
    return park("its approval was revoked or has run out: approve it again, then retry");
  const { organizationId, userId, sessionKey } = continuation;
  if (sessionKey !== null && (await tx.sessions.isEnded({ organizationId, userId, sessionKey })))
    return park("its session has ended: ask anew in a new session");
  return checkAction(parts, job, continuation, request);
}

function checkAction(
  parts: NodeParts,
  job: JobRow,
  continuation: ContinuationRow,
  request: RequestRow,
): ResumeCheck {
  const action = parts.actions.get(job.action);
  if (action === undefined) return { kind: "elsewhere" };
  if (job.ownerModule !== "" && action.module !== job.ownerModule)
    return park(`the action \`${job.action}\` belongs to another module now: ask anew`);
  const chain = standingFrames(request.subjectChain as unknown as CallerContext["frames"]);
  const { organizationId, userId, sessionKey } = continuation;
  const session = { organizationId, userId, sessionKey };
  if (![request, ...chain].every(({ subject }) => parts.actions.mayName(subject, job.action, session)))
    return park(
      `the subject may no longer name the action \`${job.action}\`: open it to the subject, then retry`,
    );
  if (!parts.live.live) return { kind: "later", error: "the service cannot vouch for approvals now" };
  if (freezeNow(parts).frozen)
    return { kind: "later", error: "everything outside the allowlist is frozen: lift the freeze" };
  const code = policyNow(parts, request, continuation);
  if (code !== null) return park(`policy does not allow it any more (${code}): change policy, then retry`);
  const { sealedContext } = continuation;
  const caller = resumeCaller(parts, action, continuation);
  if (sealedContext === null) return { kind: "run", action, context: null, caller };
  const identity = continuationIdentity(request, continuation.id, job.action, continuation);
  const opened = openContext(parts.keyRing(), identity, sealedContext);
  if (opened.outcome !== "opened") return park(opened.message);
  return { kind: "run", action, context: opened.context as Json, caller };
}

/** `null`: allowed. */
function policyNow(parts: NodeParts, request: RequestRow, continuation: ContinuationRow): string | null {
  const access = accessOfTuple(request, parts);
  if (!access.ok) return access.code;
  const frames = request.subjectChain as unknown as readonly Frame[];
  const caller = { ...THE_SERVICE, frames, ...whoOf(continuation) };
  const context = policyContext(caller, nodeState(parts));
  const active = new ActiveContext(parts.live.snapshot, context);
  const nowMs = parts.clock.nowMs();
  const verdict = decide(active, { access: access.value, ask: "passive", nowMs });
  return verdict.allowed ? null : verdict.code;
}

/** INVARIANT: the user, organization and session of whoever asked, without any role; never the approver's. */
function resumeCaller(
  parts: NodeParts,
  { module }: KnownAction,
  continuation: ContinuationRow,
): CallerContext {
  const subject = { type: "module", name: module } as Frame["subject"];
  const contracts = parts.live.snapshot.registrations.get(subject)?.contracts ?? [];
  const frame: Frame = { subject, phase: "runtime", entry: "host", contracts };
  return Object.freeze({ ...THE_SERVICE, frames: [frame], ...whoOf(continuation), credential: "runtime" });
}

function whoOf({ userId, organizationId, sessionKey, taskId }: ContinuationRow) {
  const user = userId === null ? null : { id: userId, roles: [], accessLevel: null };
  return { user, organizationId, sessionKey, taskId };
}

function park(error: string): ResumeCheck {
  return { kind: "park", error };
}
