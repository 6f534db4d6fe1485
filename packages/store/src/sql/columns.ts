/**
 * From values of the port to columns and back. What comes out of the store was checked when it went in; the
 * closed lists are enforced by the database as well.
 */
import { hash } from "node:crypto";
import type { Operation, ResourceType, Subject, SubjectName, SubjectType } from "@sallyport/contract";
import { StoreUsageError, StoreValueError } from "../errors.ts";
import type { IdentityFilter, Json, PrincipalId, SessionFilter, SessionIdentity, Tuple } from "../port.ts";

/** A unique index of PostgreSQL holds 2704 bytes: three host ids of this length fit beside a subject. */
const HOST_ID_BYTES_MAX = 770;
export const PAGE_LIMIT_MAX = 1000;

/** Names of columns, for statements that are written once. */
export const TUPLE = [
  "subject_type",
  "subject_name",
  "resource_type",
  "operation",
  "target",
  "target_hash",
] as const;
/** What the unique indexes hold of a tuple. */
export const TUPLE_KEY = [
  "subject_type",
  "subject_name",
  "resource_type",
  "operation",
  "target_hash",
] as const;
export const SESSION = ["organization_id", "user_id", "session_key"] as const;

export const mapped = <Raw, Row>(raw: Raw | null, toRow: (raw: Raw) => Row): Row | null =>
  raw === null ? null : toRow(raw);

/** The same as a step of its own. */
export const mappedBy =
  <Raw, Row>(toRow: (raw: Raw) => Row) =>
  (raw: Raw | null): Row | null =>
    mapped(raw, toRow);

export const totalOf = (row: { readonly total: number } | null): number => row?.total ?? 0;

export function principalColumn(id: PrincipalId | null): string {
  if (typeof id === "number" && !Number.isSafeInteger(id)) {
    throw new StoreValueError(`the id \`${id}\` is not a safe integer: give it as text`);
  }
  if (typeof id === "string") checkHostId(id);
  return JSON.stringify(id);
}

export const principalOf = (text: string): PrincipalId | null => JSON.parse(text) as PrincipalId | null;

/** An empty key is no key. */
export function sessionKeyColumn(key: string | null): string {
  if (key !== null) checkHostId(key);
  return key ?? "";
}

export const sessionKeyOf = (text: string): string | null => (text === "" ? null : text);

/** INVARIANT: as JSON, where half a surrogate pair has six bytes; 256 characters of any script fit. */
function checkHostId(text: string): void {
  // WHY: no character has more than six bytes there, so that short texts need no count.
  if (text.length * 6 + 2 <= HOST_ID_BYTES_MAX) return;
  const bytes = Buffer.byteLength(JSON.stringify(text));
  if (bytes > HOST_ID_BYTES_MAX) {
    throw new StoreValueError(
      `an id of ${bytes} bytes is too long: give at most 256 characters without control characters`,
    );
  }
}

export const sessionColumns = (identity: SessionIdentity) => ({
  organization_id: principalColumn(identity.organizationId),
  user_id: principalColumn(identity.userId),
  session_key: sessionKeyColumn(identity.sessionKey),
});

export const sessionOf = (row: {
  readonly organization_id: string;
  readonly user_id: string;
  readonly session_key: string;
}): SessionIdentity => ({
  organizationId: principalOf(row.organization_id),
  userId: principalOf(row.user_id),
  sessionKey: sessionKeyOf(row.session_key),
});

export const targetHash = (target: string): Uint8Array => hash("sha256", target, "buffer");

export const pairColumns = (pair: Omit<Tuple, "target">) => ({
  subject_type: pair.subject.type,
  subject_name: pair.subject.name as string,
  resource_type: pair.resourceType,
  operation: pair.operation,
});

/** WHY field by field: an object that is spread into another one costs more than the rest of it. */
export const tupleColumns = (tuple: Tuple) => ({
  subject_type: tuple.subject.type,
  subject_name: tuple.subject.name as string,
  resource_type: tuple.resourceType,
  operation: tuple.operation,
  target: tuple.target,
  target_hash: targetHash(tuple.target),
});

export const subjectOf = (type: string, name: string): Subject =>
  Object.freeze({ type: type as SubjectType, name: name as SubjectName });

export const tupleOf = (row: {
  readonly subject_type: string;
  readonly subject_name: string;
  readonly resource_type: string;
  readonly operation: string;
  readonly target: string;
}): Tuple => ({
  subject: subjectOf(row.subject_type, row.subject_name),
  resourceType: row.resource_type as ResourceType,
  operation: row.operation as Operation,
  target: row.target,
});

export function jsonColumn(value: Json): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new StoreValueError("the value is not JSON: give null where there is none");
  return text;
}

export const jsonOf = (text: string): Json => JSON.parse(text) as Json;

/** WHY: each driver has its own class for bytes, and some of them are views of a pool. */
export function bytesOf(value: Uint8Array | ArrayBuffer): Uint8Array {
  return Uint8Array.from(value instanceof Uint8Array ? value : new Uint8Array(value));
}

export const identityConditions = (filter: IdentityFilter) => ({
  subject_type: filter.subjectType,
  subject_name: filter.subjectName,
  resource_type: filter.resourceType,
  operation: filter.operation,
  target: filter.target,
});

/** The same where the target has a hash that is looked up by. */
export const tupleConditions = (filter: IdentityFilter) => ({
  ...identityConditions(filter),
  target_hash: filter.target === undefined ? undefined : targetHash(filter.target),
});

export const sessionConditions = (filter: SessionFilter) => ({
  organization_id: filter.organizationId === undefined ? undefined : principalColumn(filter.organizationId),
  user_id: filter.userId === undefined ? undefined : principalColumn(filter.userId),
  session_key: filter.sessionKey === undefined ? undefined : sessionKeyColumn(filter.sessionKey),
});

export function checkedLimit(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_LIMIT_MAX) {
    throw new StoreUsageError(`a page has 1 to ${PAGE_LIMIT_MAX} rows, not \`${limit}\`: read page by page`);
  }
  return limit;
}
