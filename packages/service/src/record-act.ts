/**
 * Acts of persons that are not policy and belong on the record all the same: signing in, accounts, credentials of
 * remote hosts. Same log, same chain. For the server of persons, which has seen to who acts.
 * INVARIANT: what is acknowledged is recorded; an act that cannot be recorded is not made.
 */
import type { PolicyAction } from "@sallyport/contract";
import type { Json, RecordVerbs, StoreTransaction } from "@sallyport/store";
import type { CallerContext } from "./caller-context.ts";
import { changeBody } from "./change-body.ts";
import { heard } from "./change-policy.ts";
import type { NodeParts } from "./node-parts.ts";
import { actorOf, policyEvent } from "./policy-event.ts";
import { requireAuthority } from "./require-authority.ts";

export type RecordedAction = Extract<
  PolicyAction,
  | "sign_in"
  | "set_account"
  | "set_own_password"
  | "issue_credential"
  | "revoke_credential"
  | "issue_token"
  | "revoke_token"
  | "retry_delivery"
  | "give_up_delivery"
>;

export interface Act<T> {
  readonly value: T;
  readonly reason?: string | null | undefined;
  /** Never a secret. */
  readonly before: Json;
  readonly after: Json;
  /** It takes away what nodes may hold in memory: acknowledged once none of them goes by it any more. */
  readonly isTakenBack?: true | undefined;
}

/**
 * WHY without authority: whoever comes in is not in yet, one's own password is one's own, also of who may not decide, and a
 * notification is given up by the host itself.
 */
const OF_ANYBODY: ReadonlySet<RecordedAction> = new Set(["sign_in", "set_own_password", "give_up_delivery"]);

/** One transaction with the act and its event. `null` from `work`: nothing was done, and nothing is recorded. */
export async function recordAct<T>(
  parts: NodeParts,
  caller: CallerContext,
  action: RecordedAction,
  work: (tx: StoreTransaction) => Promise<Act<T> | null>,
): Promise<T | null> {
  if (!OF_ANYBODY.has(action)) await requireAuthority(parts, caller, action);
  const done = await parts.audit.transaction(async (tx, record) => {
    const act = await work(tx);
    if (act === null) return null;
    record(
      policyEvent(parts.audit.stamp(), {
        type: "policy.changed",
        action,
        actionId: parts.newId("action"),
        actor: actorOf(caller),
        tuple: null,
        requestId: null,
        reason: act.reason ?? null,
        before: act.before,
        after: act.after,
      }),
    );
    return { value: act.value, revision: act.isTakenBack === true ? await takenBack(parts, tx) : null };
  });
  if (done === null) return null;
  if (done.revision !== null) await heard(parts, done.revision);
  return done.value;
}

/** Records that nodes may hold in memory, taken back. `null` from `work`: there was nothing to take. */
export async function takeBackRecords<T>(
  parts: NodeParts,
  work: (records: RecordVerbs) => Promise<T | null>,
): Promise<T | null> {
  const done = await parts.store.transaction(async (tx) => {
    const value = await work(tx.records);
    return value === null ? null : { value, revision: await takenBack(parts, tx) };
  });
  if (done === null) return null;
  await heard(parts, done.revision);
  return done.value;
}

/** INVARIANT: what a node read at one revision it forgets with the next, and no change of policy is told by this one. */
function takenBack(parts: NodeParts, tx: StoreTransaction): Promise<number> {
  return tx.revisions.append({ body: changeBody([]), createdMs: parts.clock.nowMs() });
}

/** Somebody tried to come in and could not. Durable, or an error. */
export function recordRefusedSignIn(parts: NodeParts, caller: CallerContext, reason: string): Promise<void> {
  return parts.audit.recordDurably(
    policyEvent(parts.audit.stamp(), {
      type: "policy.refused",
      action: "sign_in",
      actionId: null,
      actor: actorOf(caller),
      tuple: null,
      requestId: null,
      reason,
      before: null,
      after: null,
    }),
  );
}
