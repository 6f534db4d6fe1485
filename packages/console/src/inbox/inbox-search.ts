/** What the inbox is narrowed to, as it stands in the address. Every identity field is a field of its own. */
import {
  OPERATIONS,
  REQUEST_STATUSES,
  type RequestStatus,
  RESOURCE_TYPES,
  SUBJECT_TYPES,
} from "@sallyport/contract";
import type { AdminRequestFilter } from "@sallyport/contract/admin";

export interface InboxSearch {
  readonly id?: string | undefined;
  readonly text?: string | undefined;
  readonly status?: RequestStatus | undefined;
  readonly subjectType?: string | undefined;
  readonly subjectName?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly operation?: string | undefined;
  readonly target?: string | undefined;
  /** A number or a text; which of them is part of who it is. */
  readonly organizationId?: number | string | undefined;
  readonly userId?: number | string | undefined;
  readonly sessionKey?: string | undefined;
  readonly taskId?: string | undefined;
}

export const OPERATION_NAMES: readonly string[] = [...new Set(Object.values(OPERATIONS).flat())];

const oneOf = (list: readonly string[], value: unknown): string | undefined =>
  list.find((known) => known === value);
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;
const principal = (value: unknown): number | string | undefined =>
  typeof value === "number" || (typeof value === "string" && value !== "") ? value : undefined;

/** WHY: anything may stand in an address; what is no filter is left out, and never becomes one. */
export function parseInboxSearch(raw: Readonly<Record<string, unknown>>): InboxSearch {
  const found: InboxSearch = {
    id: text(raw["id"]),
    text: text(raw["text"]),
    status: oneOf(REQUEST_STATUSES, raw["status"]) as RequestStatus | undefined,
    subjectType: oneOf(SUBJECT_TYPES, raw["subjectType"]),
    subjectName: text(raw["subjectName"]),
    resourceType: oneOf(RESOURCE_TYPES, raw["resourceType"]),
    operation: oneOf(OPERATION_NAMES, raw["operation"]),
    target: text(raw["target"]),
    organizationId: principal(raw["organizationId"]),
    userId: principal(raw["userId"]),
    sessionKey: text(raw["sessionKey"]),
    taskId: text(raw["taskId"]),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** Fields that the server narrows by. */
export const FILTER_FIELDS = [
  "subjectType",
  "subjectName",
  "resourceType",
  "operation",
  "target",
  "organizationId",
  "userId",
  "sessionKey",
  "taskId",
] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

export function requestFilter(search: InboxSearch): AdminRequestFilter {
  const narrowed = FILTER_FIELDS.flatMap((field) =>
    search[field] === undefined ? [] : [[field, search[field]] as const],
  );
  return { ...Object.fromEntries(narrowed), status: search.status ?? "pending" };
}
