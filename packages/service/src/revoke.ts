/** Taking a decision back: an approval, a denial, a rule. Idempotent: what is gone stays gone. */
import type { CallerContext } from "./caller-context.ts";
import { type ChangeAnswer, changePolicy } from "./change-policy.ts";
import type { NodeParts } from "./node-parts.ts";
import { approvalJson, denialJson, tupleOf } from "./policy-rows.ts";
import { ruleJson } from "./rule-row.ts";

export interface Revocation {
  readonly id: string;
  readonly reason?: string | undefined;
}

export function revokeApproval(
  parts: NodeParts,
  caller: CallerContext,
  { id, reason }: Revocation,
): Promise<ChangeAnswer> {
  return changePolicy(parts, caller, "revoke_approval", async (tx) => {
    const row = await tx.approvals.remove(id);
    if (row === null) return null;
    return {
      ok: true,
      changed: [{ kind: "approval", id }],
      tuple: tupleOf(row),
      requestId: row.requestId,
      reason: reason ?? null,
      before: approvalJson(row),
      after: null,
    };
  });
}

/** The target can be asked for again. */
export function revokeDenial(
  parts: NodeParts,
  caller: CallerContext,
  { id, reason }: Revocation,
): Promise<ChangeAnswer> {
  return changePolicy(parts, caller, "revoke_denial", async (tx) => {
    const row = await tx.denials.remove(id);
    if (row === null) return null;
    return {
      ok: true,
      changed: [{ kind: "denial", id }],
      tuple: tupleOf(row),
      requestId: row.requestId,
      reason: reason ?? null,
      before: denialJson(row),
      after: null,
    };
  });
}

export function removeRule(
  parts: NodeParts,
  caller: CallerContext,
  { id, reason }: Revocation,
): Promise<ChangeAnswer> {
  return changePolicy(parts, caller, "remove_rule", async (tx) => {
    const row = await tx.rules.remove(id);
    if (row === null) return null;
    const { resourceType, operation, target, subject } = row;
    const tuple = subject === null ? null : { subject, resourceType, operation, target };
    return {
      ok: true,
      changed: [{ kind: "rule", id }],
      tuple,
      reason: reason ?? null,
      before: ruleJson(row),
      after: null,
    };
  });
}
