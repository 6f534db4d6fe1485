/**
 * The rows that a decision writes, and whether the very same decision stands already. Pure but for the ids and the
 * clock of its node.
 */
import {
  type ActionId,
  type DecisionId,
  type PermissionDecision,
  type Timestamp,
  destructiveFacts,
  operationLabel,
  subjectLabel,
} from "@sallyport/contract";
import type { ApprovalRow, DenialRow, NewApproval, RuleRow, StoreReader, Tuple } from "@sallyport/store";
import type { Access } from "@sallyport/contract";
import { type Aim, type Aimed, statusOf } from "./decision-aim.ts";
import type { DecisionKind } from "./decision-request.ts";
import { timestampOf } from "./node-clock.ts";
import type { NodeParts } from "./node-parts.ts";
import { type ActorColumns, personJson } from "./policy-event.ts";
import { deciderId } from "./policy-rows.ts";

export interface DecidedFacts {
  readonly kind: DecisionKind;
  readonly status: ReturnType<typeof statusOf>;
  readonly tuple: Tuple;
  readonly actionId: string;
  readonly nowMs: number;
  readonly reason: string | null;
  readonly approval: NewApproval | null;
  readonly denial: DenialRow | null;
  readonly rule: RuleRow | null;
  readonly decision: PermissionDecision;
}

const REASON_LENGTH_MAX = 2000;

export function decisionFacts(
  parts: NodeParts,
  kind: DecisionKind,
  aimed: Aimed,
  { words }: Aim,
  actor: ActorColumns,
): DecidedFacts {
  const { clock, newId } = parts;
  const nowMs = clock.nowMs();
  const actionId = newId("action");
  const reason = words.reason === undefined ? null : words.reason.slice(0, REASON_LENGTH_MAX) || null;
  const { subject, resourceType, operation, target } = aimed.tuple;
  // WHY field by field: an object that is spread into another one costs more than the rest of it.
  const decided = (id: string): DenialRow => ({
    id,
    subject,
    resourceType,
    operation,
    target,
    match: aimed.match,
    requestId: aimed.request?.id ?? null,
    actionId,
    decidedBy: personJson(actor),
    reason,
    createdMs: nowMs,
  });
  const approval: NewApproval | null =
    kind === "approve_for_session" || kind === "approve_permanently"
      ? {
          id: newId("approval"),
          subject,
          resourceType,
          operation,
          target,
          match: aimed.match,
          requestId: aimed.request?.id ?? null,
          actionId,
          decidedBy: personJson(actor),
          reason,
          createdMs: nowMs,
          scope: aimed.session === null ? "permanent" : "session",
          organizationId: aimed.session?.organizationId ?? null,
          userId: aimed.session?.userId ?? null,
          sessionKey: aimed.session?.sessionKey ?? null,
          expiresAtMs: words.expiresAtMs ?? null,
          maxUses: words.maxUses ?? null,
        }
      : null;
  const denial = kind === "deny" ? decided(newId("denial")) : null;
  const rule = kind === "block" ? blockRule(newId("rule"), aimed, actor, nowMs) : null;
  const { tuple } = aimed;
  const status = statusOf(kind);
  const decision = decisionOf(parts, {
    kind,
    status,
    tuple,
    actionId,
    nowMs,
    reason,
    approval,
    denial,
    rule,
  });
  return { kind, status, tuple, actionId, nowMs, reason, approval, denial, rule, decision };
}

function blockRule(id: string, { tuple, match }: Aimed, actor: ActorColumns, nowMs: number): RuleRow {
  return {
    id,
    effect: "deny",
    source: "host",
    ...tuple,
    match,
    organizationId: null,
    userId: null,
    sessionKey: null,
    createdBy: personJson(actor),
    createdMs: nowMs,
  };
}

function decisionOf(
  { newId }: NodeParts,
  { kind, tuple, actionId, approval, denial, rule, reason }: Omit<DecidedFacts, "decision">,
): PermissionDecision {
  const { resourceType, operation } = tuple;
  const what = { resourceType, operation } as Pick<Access, "resourceType" | "operation">;
  const label = `${subjectLabel(tuple.subject)}: ${operationLabel(what as Access).toLowerCase()}`;
  const verb = {
    approve_for_session: "was approved for a session",
    approve_permanently: "was approved permanently",
    deny: "was denied",
    block: "was blocked",
  }[kind];
  return {
    id: newId("decision") as DecisionId,
    decision: approval === null ? "denied" : "allowed",
    decisionReason: reason === null ? `${label} ${verb}` : `${label} ${verb}: ${reason}`.slice(0, 2000),
    ruleRefs: [approval?.id ?? denial?.id ?? rule?.id ?? ""] as unknown as PermissionDecision["ruleRefs"],
    updatedInputRef: null,
    approvalActionId: actionId as ActionId,
    expiresAt: endOf(approval),
    scope: approval?.scope ?? null,
    ...destructiveFacts(what),
    decisionSource:
      approval === null
        ? rule === null
          ? "denial"
          : "host_rule"
        : approval.scope === "session"
          ? "session_approval"
          : "permanent_approval",
  };
}

function endOf(approval: NewApproval | null): Timestamp | null {
  const expiresAtMs = approval?.expiresAtMs ?? null;
  return expiresAtMs === null ? null : timestampOf(expiresAtMs);
}

export interface Standing {
  readonly approval: ApprovalRow | null;
  readonly denial: DenialRow | null;
  readonly rule: RuleRow | null;
}

/** The same decision of the same person on the same tuple, where it stands. */
export async function standingSame(tx: StoreReader, facts: DecidedFacts): Promise<Standing | null> {
  const { tuple, approval, denial, rule } = facts;
  if (approval !== null) {
    const rows = await tx.approvals.findByTuple(tuple);
    const same = rows.find(
      (row) =>
        isReplacedBy(row, approval) &&
        row.match === approval.match &&
        row.expiresAtMs === approval.expiresAtMs &&
        row.maxUses === approval.maxUses &&
        row.uses === 0 &&
        deciderId(row.decidedBy) === deciderId(approval.decidedBy),
    );
    return same === undefined ? null : { approval: same, denial: null, rule: null };
  }
  if (denial !== null) {
    const row = await tx.denials.findByTuple(tuple);
    const isSame =
      row !== null && row.match === denial.match && deciderId(row.decidedBy) === deciderId(denial.decidedBy);
    return isSame ? { approval: null, denial: row, rule: null } : null;
  }
  const same = (await tx.rules.list()).find(
    (row) =>
      rule !== null &&
      row.effect === "deny" &&
      row.source === "host" &&
      row.subject?.type === tuple.subject.type &&
      row.subject.name === tuple.subject.name &&
      row.resourceType === tuple.resourceType &&
      row.operation === tuple.operation &&
      row.target === tuple.target &&
      row.match === rule.match,
  );
  return same === undefined ? null : { approval: null, denial: null, rule: same };
}

/** Same scope, and same session where it is of one. */
export function isReplacedBy(row: ApprovalRow, approval: NewApproval): boolean {
  return (
    row.scope === approval.scope &&
    row.organizationId === approval.organizationId &&
    row.userId === approval.userId &&
    row.sessionKey === approval.sessionKey
  );
}
