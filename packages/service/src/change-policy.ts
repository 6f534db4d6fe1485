/**
 * The common way of every change of policy that is not a decision on a request: authority first, then one
 * transaction with the change, its event and its revision, then the wait until every live node has heard.
 */
import type { PolicyAction } from "@sallyport/contract";
import type { Json, StoreTransaction, Tuple } from "@sallyport/store";
import type { CallerContext } from "./caller-context.ts";
import { type ChangedFact, changeBody } from "./change-body.ts";
import { confirmed } from "./decide-request.ts";
import { type Refusal } from "./decision-request.ts";
import type { NodeParts } from "./node-parts.ts";
import { actorOf, policyEvent } from "./policy-event.ts";
import { requireAuthority } from "./require-authority.ts";
import type { UnchainedEvent } from "./access-events.ts";
import { watchedAct } from "./watched.ts";

export interface PolicyChange {
  readonly ok: true;
  readonly changed: readonly ChangedFact[];
  readonly tuple: Tuple | null;
  readonly requestId?: string | null;
  readonly reason?: string | null;
  readonly before: Json;
  readonly after: Json;
}

export interface Changed {
  readonly ok: true;
  readonly actionId: string;
  readonly revision: number;
  /** It was so already; nothing was changed. */
  readonly repeated: boolean;
}

export type ChangeAnswer = Changed | Refusal;

/** `null` from `work`: it is so already. */
export type PolicyWork = (
  tx: StoreTransaction,
  record: (event: UnchainedEvent) => void,
) => Promise<PolicyChange | Refusal | null>;

export async function changePolicy(
  parts: NodeParts,
  caller: CallerContext,
  action: PolicyAction,
  work: PolicyWork,
): Promise<ChangeAnswer> {
  return watchedAct(parts, action, async () => {
    await requireAuthority(parts, caller, action);
    return changeUnchecked(parts, caller, action, work);
  });
}

/** For what the host itself does without a person: whoever calls this has seen to who may. */
export async function changeUnchecked(
  parts: NodeParts,
  caller: CallerContext,
  action: PolicyAction,
  work: PolicyWork,
): Promise<ChangeAnswer> {
  const actionId = parts.newId("action");
  const answer = await parts.audit.transaction(async (tx, record): Promise<ChangeAnswer> => {
    const change = await work(tx, record);
    if (change === null)
      return { ok: true, actionId, revision: await tx.revisions.current(), repeated: true };
    if (!change.ok) return change;
    record(
      policyEvent(parts.audit.stamp(), {
        type: "policy.changed",
        action,
        actionId,
        actor: actorOf(caller),
        tuple: change.tuple,
        requestId: change.requestId ?? null,
        reason: change.reason ?? null,
        before: change.before,
        after: change.after,
      }),
    );
    if (change.changed.length === 0)
      return { ok: true, actionId, revision: await tx.revisions.current(), repeated: false };
    const createdMs = parts.clock.nowMs();
    const revision = await tx.revisions.append({ body: changeBody(change.changed), createdMs });
    return { ok: true, actionId, revision, repeated: false };
  });
  // INVARIANT: also where it was so already: whoever made it so may still be waiting for the nodes.
  if (answer.ok) await heard(parts, answer.revision);
  return Object.freeze(answer);
}

/** INVARIANT: what takes access away is acknowledged only once no live node can still give it. */
export async function heard(parts: NodeParts, revision: number): Promise<void> {
  // WHY: the change is durable. A node that could not apply it knows of it, and is not live until it has.
  await parts.live.atLeast(revision).catch(parts.faulted);
  parts.waiters.notify();
  await confirmed(parts, revision);
}
