/** Rows of requests as the port has them. */
import type { Attester, Operation, PermissionMode, RequestStatus, ResourceType } from "@sallyport/contract";
import type { AskedRequest, RequestRow } from "../port.ts";
import { jsonOf, mappedBy, principalOf, SESSION, sessionKeyOf, subjectOf } from "./columns.ts";
import type { RequestTable } from "./schema.ts";

export const requestOf = (row: RequestTable): RequestRow =>
  Object.freeze({
    id: row.id,
    subject: subjectOf(row.subject_type, row.subject_name),
    resourceType: row.resource_type as ResourceType,
    operation: row.operation as Operation,
    target: row.target,
    targetRequested: row.target_requested,
    organizationId: principalOf(row.organization_id),
    userId: principalOf(row.user_id),
    sessionKey: sessionKeyOf(row.session_key),
    taskId: row.task_id,
    subjectChain: jsonOf(row.subject_chain),
    mode: row.mode as PermissionMode,
    destructive: jsonOf(row.destructive),
    attestedBy: row.attested_by as Attester,
    status: row.status as RequestStatus,
    count: row.count,
    firstSeenMs: row.first_seen_ms,
    lastSeenMs: row.last_seen_ms,
    expiresAtMs: row.expires_at_ms,
    decidedBy: row.decided_by === null ? null : jsonOf(row.decided_by),
    decidedAtMs: row.decided_at_ms,
    decisionReason: row.decision_reason,
    approvalId: row.approval_id,
  });

export const toRequest = mappedBy(requestOf);

/** WHY fewer: each value of a row costs, and a decision reads two rows. */
export const ASKED = [
  "id",
  "subject_type",
  "subject_name",
  "resource_type",
  "operation",
  "target",
  ...SESSION,
  "task_id",
  "subject_chain",
  "status",
  "first_seen_ms",
  "expires_at_ms",
  "decided_by",
  "approval_id",
] as const satisfies readonly (keyof RequestTable)[];

const askedOf = (row: Pick<RequestTable, (typeof ASKED)[number]>): AskedRequest =>
  Object.freeze({
    id: row.id,
    subject: subjectOf(row.subject_type, row.subject_name),
    resourceType: row.resource_type as ResourceType,
    operation: row.operation as Operation,
    target: row.target,
    organizationId: principalOf(row.organization_id),
    userId: principalOf(row.user_id),
    sessionKey: sessionKeyOf(row.session_key),
    taskId: row.task_id,
    subjectChain: jsonOf(row.subject_chain),
    status: row.status as RequestStatus,
    firstSeenMs: row.first_seen_ms,
    expiresAtMs: row.expires_at_ms,
    decidedBy: row.decided_by === null ? null : jsonOf(row.decided_by),
    approvalId: row.approval_id,
  });

export const toAsked = mappedBy(askedOf);

/** WHY not by the database: SQLite would rather read every pending request in this order than sort a few. */
const oldestFirst = (one: AskedRequest, other: AskedRequest): number =>
  one.firstSeenMs - other.firstSeenMs || (one.id < other.id ? -1 : 1);
export const inOrder = (rows: readonly Pick<RequestTable, (typeof ASKED)[number]>[]) =>
  rows.map(askedOf).toSorted(oldestFirst);
