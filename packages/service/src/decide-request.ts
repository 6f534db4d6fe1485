/**
 * A person's decision: approve for a session, approve permanently, deny, block. One transaction holds the decision,
 * the requests it settles with their jobs, the revision that tells every node, and the events.
 * Trusts the context for who acts. INVARIANT: what is answered with `ok` is durable, and a denial is answered only
 * after every live node has heard of it.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { PolicyAction } from "@sallyport/contract";
import type { AskedRequest, StoreTransaction } from "@sallyport/store";
import { actionFacts } from "./access-events.ts";
import type { CallerContext } from "./caller-context.ts";
import { policyContext } from "./caller-context.ts";
import { type ChangedFact, changeBody } from "./change-body.ts";
import { sessionOfRow } from "./coverage.ts";
import { type Aim, type Aimed, aimOf, repeatedAnswer } from "./decision-aim.ts";
import {
  type DecidedFacts,
  type Standing,
  decisionFacts,
  isReplacedBy,
  standingSame,
} from "./decision-facts.ts";
import type { Decided, Decision, DecisionKind } from "./decision-request.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";
import { actorOf, personJson, policyEvent } from "./policy-event.ts";
import { approvalJson, approvalRecord, asMade, denialJson, denialRecord, tupleOf } from "./policy-rows.ts";
import { requireAuthority } from "./require-authority.ts";
import { type Settling, settleRequest } from "./settle-requests.ts";
import { ruleJson } from "./rule-row.ts";
import { watchedAct } from "./watched.ts";

export function decideRequest(
  parts: NodeParts,
  caller: CallerContext,
  kind: DecisionKind,
  aim: Aim,
): Promise<Decision> {
  return watchedAct(parts, kind satisfies PolicyAction, () => decided(parts, caller, kind, aim));
}

async function decided(
  parts: NodeParts,
  caller: CallerContext,
  kind: DecisionKind,
  aim: Aim,
): Promise<Decision> {
  await requireAuthority(parts, caller, kind);
  const decision = await parts.decisions.run((tx, record) =>
    decideInside(parts, tx, record, caller, kind, aim),
  );
  // INVARIANT: also where it was decided before: whoever said it first may still be waiting for the nodes.
  if (decision.ok) await announce(parts, decision);
  return decision;
}

/** Inside a transaction: whoever calls this has seen to authority, and announces what was committed. */
export async function decideInside(
  parts: NodeParts,
  tx: StoreTransaction,
  record: Parameters<typeof settleRequest>[4],
  caller: CallerContext,
  kind: DecisionKind,
  aim: Aim,
): Promise<Decision> {
  const aimed = await aimOf(parts, tx, kind, aim);
  if (!aimed.ok) return repeatedAnswer(tx, aimed, kind, aim, actorOf(caller));
  const facts = decisionFacts(parts, kind, aimed, aim, actorOf(caller));
  const standing = aimed.request === null ? await standingSame(tx, facts) : null;
  if (standing !== null) {
    const revision = await tx.revisions.current();
    return answer(kind, standing, { settled: [], jobs: 0, revision, repeated: true, requestId: null });
  }
  const changed = await writeDecision(tx, facts);
  const settled = await settleCovered(parts, tx, caller, aimed, facts, record);
  record(
    policyEvent(parts.audit.stamp(), {
      type: "policy.changed",
      action: kind,
      actionId: facts.actionId,
      actor: actorOf(caller),
      tuple: facts.tuple,
      requestId: aimed.request?.id ?? null,
      reason: aim.words.reason ?? null,
      before: changed.removed,
      after: recordOf(facts),
    }),
  );
  const revision = await tx.revisions.append({ body: changeBody(changed.facts), createdMs: facts.nowMs });
  const { approval, denial, rule } = facts;
  const written = { approval: approval === null ? null : asMade(approval), denial, rule };
  const requestId = aimed.request?.id ?? null;
  const { settled: ids, jobs } = settled;
  return answer(kind, written, { settled: ids, jobs, revision, repeated: false, requestId });
}

/** After the commit: this node applies it, waiters wake, jobs start, and what takes away is confirmed by all. */
export async function announce(
  parts: NodeParts,
  { kind, revision, jobs }: { readonly kind: DecisionKind; readonly revision: number; readonly jobs: number },
): Promise<void> {
  try {
    await parts.live.atLeast(revision);
    parts.waiters.notify();
    if (jobs > 0) parts.jobsMade();
    if (kind === "deny" || kind === "block") await confirmed(parts, revision);
  } catch (error) {
    parts.faulted(error);
    // WHY: the decision is durable. A node that could not apply it has lost its lease, and fails closed.
    parts.waiters.notify();
  }
}

export async function confirmed(parts: NodeParts, revision: number): Promise<void> {
  const { live, children, confirmations } = parts;
  await children.atLeast(revision);
  try {
    await confirmations.atLeast(revision);
  } catch (error) {
    parts.faulted(error);
    // INVARIANT: nobody can be asked, but after this long every node and child has heard or has lost its lease.
    await delay(4 * live.leaseMs);
  }
}

interface Written {
  readonly facts: readonly ChangedFact[];
  /** What made room, in wire form. */
  readonly removed: ReturnType<typeof approvalJson>;
}

/** One live decision per tuple and scope. */
async function writeDecision(tx: StoreTransaction, facts: DecidedFacts): Promise<Written> {
  const { tuple, approval, denial, rule } = facts;
  const changed: ChangedFact[] = [];
  const removed: ReturnType<typeof approvalJson>[] = [];
  const existing = await tx.approvals.findByTuple(tuple);
  const outgoing = approval === null ? existing : existing.filter((row) => isReplacedBy(row, approval));
  for (const row of outgoing) {
    await tx.approvals.remove(row.id);
    changed.push({ kind: "approval", id: row.id });
    removed.push(approvalJson(row));
  }
  if (approval === null || approval.scope === "permanent") {
    const former = await tx.denials.removeByTuple(tuple);
    if (former !== null) {
      changed.push({ kind: "denial", id: former.id });
      removed.push(denialJson(former));
    }
  }
  if (approval !== null) {
    await tx.approvals.insert(approval);
    changed.push({ kind: "approval", id: approval.id });
  }
  if (denial !== null) {
    await tx.denials.insert(denial);
    changed.push({ kind: "denial", id: denial.id });
  }
  if (rule !== null) {
    await tx.rules.insert(rule);
    changed.push({ kind: "rule", id: rule.id });
  }
  return { facts: changed, removed };
}

async function settleCovered(
  parts: NodeParts,
  tx: StoreTransaction,
  caller: CallerContext,
  aimed: Aimed,
  facts: DecidedFacts,
  record: Parameters<typeof settleRequest>[4],
): Promise<{ readonly settled: readonly string[]; readonly jobs: number }> {
  const settling: Settling = {
    to: facts.status,
    decidedBy: personJson(actorOf(caller)),
    reason: facts.reason,
    approvalId: facts.approval?.id ?? null,
    nowMs: facts.nowMs,
    facts: actionFacts(caller, policyContext(caller, nodeState(parts)), parts.live.facts),
    decision: facts.decision,
    endsThere: aimed.endsThere ? aimed.request : null,
  };
  const others = (await candidates(tx, facts, aimed)).filter(
    (row) => row.id !== aimed.request?.id && aimed.covers(tupleOf(row), sessionOfRow(row)),
  );
  const settled: string[] = [];
  let jobs = 0;
  for (const request of aimed.request === null ? others : [aimed.request, ...others]) {
    const made = await settleRequest(parts, tx, request, settling, record);
    if (made === null) continue;
    settled.push(request.id);
    jobs += made;
  }
  return { settled, jobs };
}

/** Whom the decision may cover besides the request that was looked at. */
function candidates(
  tx: StoreTransaction,
  { tuple, approval }: DecidedFacts,
  { match }: Aimed,
): Promise<readonly AskedRequest[]> {
  if (approval === null) return tx.requests.pendingOf(tuple);
  // WHY: uses that are counted go to the request that was looked at, not to whoever else waits.
  if (approval.maxUses !== null) return Promise.resolve([]);
  return match === "exact" ? tx.requests.pendingOfTuple(tuple) : tx.requests.pendingOf(tuple);
}

function answer(
  kind: DecisionKind,
  { approval, denial, rule }: Standing,
  rest: Pick<Decided, "requestId" | "settled" | "jobs" | "revision" | "repeated">,
): Decision {
  return Object.freeze({
    ok: true,
    kind,
    approval: approval === null ? null : approvalRecord(approval),
    denial: denial === null ? null : denialRecord(denial),
    ruleId: rule?.id ?? null,
    requestId: rest.requestId,
    settled: rest.settled,
    jobs: rest.jobs,
    revision: rest.revision,
    repeated: rest.repeated,
  });
}

function recordOf({ approval, denial, rule }: DecidedFacts): ReturnType<typeof approvalJson> {
  if (approval !== null) return approvalJson(asMade(approval));
  if (denial !== null) return denialJson(denial);
  return rule === null ? null : ruleJson(rule);
}
