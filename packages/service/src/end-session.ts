/**
 * The end of a session: its approvals go, its pending requests are cancelled, and its key is never used again.
 * For the host, which knows when a session ends; guarded code cannot end one.
 */
import type { KeyedSession, RequestRow, StoreTransaction } from "@sallyport/store";
import { actionFacts } from "./access-events.ts";
import { type CallerContext, policyContext } from "./caller-context.ts";
import { type ChangeAnswer, changeUnchecked } from "./change-policy.ts";
import { refusal } from "./decision-request.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";
import { actorOf, personJson } from "./policy-event.ts";
import { approvalJson } from "./policy-rows.ts";
import { isHostCode, requireAuthority } from "./require-authority.ts";
import { serviceDecision } from "./service-decision.ts";
import { settleRequest } from "./settle-requests.ts";

const PAGE_LIMIT = 500;

export async function endSession(
  parts: NodeParts,
  caller: CallerContext,
  session: KeyedSession,
): Promise<ChangeAnswer> {
  // WHY: for the host no person's authority is needed; anybody else is refused like any other attempt.
  if (!isHostCode(caller)) await requireAuthority(parts, caller, "end_session");
  if (session.sessionKey === "")
    return refusal("session_key_required", "a session without a key cannot end: name its session key");
  return changeUnchecked(parts, caller, "end_session", async (tx, record) => {
    const nowMs = parts.clock.nowMs();
    if (!(await tx.sessions.end(session, nowMs))) return null;
    const removed = await tx.approvals.removeOfSession(session);
    const facts = actionFacts(caller, policyContext(caller, nodeState(parts)), parts.live.facts);
    for (const request of await pendingOfSession(tx, session)) {
      await settleRequest(
        parts,
        tx,
        request,
        {
          to: "cancelled",
          decidedBy: personJson(actorOf(caller)),
          reason: "the session ended",
          approvalId: null,
          nowMs,
          facts,
          decision: serviceDecision(parts, request, "context", "the session ended before anybody decided"),
        },
        record,
      );
    }
    const { organizationId, userId, sessionKey } = session;
    return {
      ok: true,
      changed: [
        { kind: "session_ended", organizationId, userId, sessionKey },
        ...removed.map(({ id }) => ({ kind: "approval", id }) as const),
      ],
      tuple: null,
      before: removed.map(approvalJson),
      after: { organization_id: organizationId, user_id: userId, session_key: sessionKey },
    };
  });
}

async function pendingOfSession(tx: StoreTransaction, session: KeyedSession): Promise<RequestRow[]> {
  const { organizationId, userId, sessionKey } = session;
  const filter = { organizationId, userId, sessionKey, status: "pending" } as const;
  const found: RequestRow[] = [];
  for (let page = await tx.requests.list(filter, { limit: PAGE_LIMIT }); ;) {
    found.push(...page.rows);
    if (page.next === null) return found;
    page = await tx.requests.list(filter, { limit: PAGE_LIMIT, after: page.next });
  }
}
