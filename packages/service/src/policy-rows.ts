/**
 * Rows of the store as facts of a snapshot, and as they travel. Trusts rows; a snapshot checks again that a fact
 * makes sense.
 */
import {
  type Approval as WireApproval,
  type Denial as WireDenial,
  type Resource,
  approvalWire,
  denialWire,
} from "@sallyport/contract";
import type { Approval, Denial, HostRule } from "@sallyport/policy";
import type { ApprovalRow, DenialRow, Json, NewApproval, RuleRow, Tuple } from "@sallyport/store";
import { timestampOf } from "./node-clock.ts";

export function approvalFact(row: ApprovalRow): Approval {
  const { id, subject, resourceType, operation, target, match, scope, expiresAtMs, maxUses, uses } = row;
  const { organizationId, userId, sessionKey } = row;
  return {
    id,
    subject,
    resourceType,
    operation,
    target,
    match,
    scope,
    organizationId,
    userId,
    sessionKey,
    expiresAtMs,
    usesLeft: maxUses === null ? null : Math.max(0, maxUses - uses),
  };
}

export function denialFact(row: DenialRow): Denial {
  const { id, subject, resourceType, operation, target, match } = row;
  return { id, subject, resourceType, operation, target, match };
}

export function ruleFact(row: RuleRow): HostRule {
  const { id, effect, source, subject, resourceType, operation, target, match } = row;
  const { organizationId, userId, sessionKey } = row;
  return {
    id,
    effect,
    source,
    resourceType,
    operation,
    target,
    ...(subject === null ? {} : { subject }),
    ...(match === null ? {} : { match }),
    ...(organizationId === null ? {} : { organizationId }),
    ...(userId === null ? {} : { userId }),
    ...(sessionKey === null ? {} : { sessionKey }),
  };
}

export function tupleOf({ subject, resourceType, operation, target }: Tuple): Tuple {
  return { subject, resourceType, operation, target };
}

export function resourceOfTuple({ resourceType, operation, target }: Tuple): Resource {
  return { type: resourceType, operation, target } as Resource;
}

/** The id of the person that a row names; rows keep the whole person. */
export function deciderId(decidedBy: Json): number | string | null {
  if (typeof decidedBy !== "object" || decidedBy === null || Array.isArray(decidedBy)) return null;
  const { id } = decidedBy as { readonly id?: Json };
  return typeof id === "number" || typeof id === "string" ? id : null;
}

/** WHY field by field, here and below: an object that is spread into another one costs more than the rest of it. */
export function approvalRecord(row: ApprovalRow): WireApproval {
  return Object.freeze({
    id: row.id,
    subject: row.subject,
    resource: resourceOfTuple(row),
    match: row.match,
    requestId: row.requestId,
    actionId: row.actionId,
    decidedBy: deciderId(row.decidedBy),
    decidedAt: timestampOf(row.createdMs),
    reason: row.reason,
    scope: row.scope,
    organizationId: row.organizationId,
    userId: row.userId,
    sessionKey: row.sessionKey,
    expiresAt: row.expiresAtMs === null ? null : timestampOf(row.expiresAtMs),
    maxUses: row.maxUses,
    uses: row.uses,
  }) as unknown as WireApproval;
}

export function denialRecord(row: DenialRow): WireDenial {
  return Object.freeze({
    id: row.id,
    subject: row.subject,
    resource: resourceOfTuple(row),
    match: row.match,
    requestId: row.requestId,
    actionId: row.actionId,
    decidedBy: deciderId(row.decidedBy),
    decidedAt: timestampOf(row.createdMs),
    reason: row.reason,
  }) as unknown as WireDenial;
}

/** As the store says of an approval that was just made. */
export function asMade(row: NewApproval): ApprovalRow {
  return {
    id: row.id,
    subject: row.subject,
    resourceType: row.resourceType,
    operation: row.operation,
    target: row.target,
    match: row.match,
    scope: row.scope,
    organizationId: row.organizationId,
    userId: row.userId,
    sessionKey: row.sessionKey,
    expiresAtMs: row.expiresAtMs,
    maxUses: row.maxUses,
    uses: 0,
    requestId: row.requestId,
    actionId: row.actionId,
    decidedBy: row.decidedBy,
    reason: row.reason,
    createdMs: row.createdMs,
    lastUsedMs: null,
  };
}

export const approvalJson = (row: ApprovalRow): Json => approvalWire.format(approvalRecord(row));
export const denialJson = (row: DenialRow): Json => denialWire.format(denialRecord(row));
