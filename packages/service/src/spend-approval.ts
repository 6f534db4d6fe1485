/**
 * Limited approvals are confirmed by the store at every use: a real operation spends one of each, all or none; an
 * explicit check only looks. The event is written in the same transaction, so that every use is on record.
 */
import type { Verdict } from "@sallyport/policy";
import type { ApprovalRow, StoreTransaction } from "@sallyport/store";
import type { UnchainedEvent } from "./access-events.ts";
import type { NodeParts } from "./node-parts.ts";

/** Rolls the transaction back; never leaves this file. */
class ApprovalGone extends Error {}

export interface Spending {
  readonly verdict: Verdict;
  readonly enforced: boolean;
  readonly event: () => UnchainedEvent;
}

/** `false`: one of the approvals is gone, expired or used up. This node's view knows it by then; decide again. */
export async function confirmApprovals(
  parts: NodeParts,
  { verdict, enforced, event }: Spending,
): Promise<boolean> {
  const approvals = verdict.refs.filter((ref) => (parts.live.facts.decision(ref)?.scope ?? null) !== null);
  let gone: { readonly id: string; readonly row: ApprovalRow | null } | null = null;
  let used: readonly ApprovalRow[] = [];
  try {
    await parts.audit.transaction(async (tx, record) => {
      const rows: ApprovalRow[] = [];
      for (const id of approvals) {
        const row = await tx.approvals.get(id);
        if (row === null || !(await isGiven(parts, tx, row, enforced))) {
          gone = { id, row };
          throw new ApprovalGone();
        }
        const isSpent = enforced && isLimited(row);
        rows.push(isSpent ? { ...row, uses: row.uses + 1 } : row);
      }
      used = rows;
      record(event());
    });
  } catch (error) {
    if (!(error instanceof ApprovalGone) || gone === null) throw error;
    const { id, row } = gone as { readonly id: string; readonly row: ApprovalRow | null };
    parts.live.learnApproval(id, row);
    return false;
  }
  for (const row of used) if (isLimited(row)) parts.live.learnApproval(row.id, row);
  return true;
}

async function isGiven(
  { clock }: NodeParts,
  tx: StoreTransaction,
  row: ApprovalRow,
  enforced: boolean,
): Promise<boolean> {
  if (!isLimited(row)) return true;
  const nowMs = clock.nowMs();
  if (enforced) return (await tx.approvals.spendUse(row.id, nowMs)).spent;
  return isAlive(row, nowMs);
}

function isLimited({ expiresAtMs, maxUses }: ApprovalRow): boolean {
  return expiresAtMs !== null || maxUses !== null;
}

export function isAlive({ expiresAtMs, maxUses, uses }: ApprovalRow, nowMs: number): boolean {
  return (expiresAtMs === null || nowMs < expiresAtMs) && (maxUses === null || uses < maxUses);
}
