/**
 * Acts of persons that are not policy and belong on the record all the same: signing in, accounts, credentials of
 * remote hosts. Same log, same chain. For the server of persons, which has seen to who acts.
 * INVARIANT: what is acknowledged is recorded; an act that cannot be recorded is not made.
 */
import type { PolicyAction } from "@sallyport/contract";
import type { Json, StoreTransaction } from "@sallyport/store";
import type { CallerContext } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { actorOf, policyEvent } from "./policy-event.ts";
import { requireAuthority } from "./require-authority.ts";

export type RecordedAction = Extract<
  PolicyAction,
  "sign_in" | "set_account" | "issue_credential" | "revoke_credential"
>;

export interface Act<T> {
  readonly value: T;
  readonly reason?: string | null | undefined;
  /** Never a secret. */
  readonly before: Json;
  readonly after: Json;
}

/** One transaction with the act and its event. `null` from `work`: nothing was done, and nothing is recorded. */
export async function recordAct<T>(
  parts: NodeParts,
  caller: CallerContext,
  action: RecordedAction,
  work: (tx: StoreTransaction) => Promise<Act<T> | null>,
): Promise<T | null> {
  // WHY not for a sign-in: whoever comes in is not in yet, and may come in without being allowed to decide.
  if (action !== "sign_in") await requireAuthority(parts, caller, action);
  return parts.audit.transaction(async (tx, record) => {
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
    return act.value;
  });
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
