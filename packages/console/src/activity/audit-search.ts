/** What the audit log is narrowed to, as it stands in the address. */
import { DECISION_SOURCES, OPERATIONS, OUTCOMES, RESOURCE_TYPES, SUBJECT_TYPES } from "@sallyport/contract";
import type { AdminEventFilter } from "@sallyport/contract/admin";

export const RANGES = {
  hour: { label: "1 hour", spanMs: 3_600_000, bucketMs: 60_000 },
  day: { label: "24 hours", spanMs: 86_400_000, bucketMs: 1_800_000 },
  week: { label: "7 days", spanMs: 604_800_000, bucketMs: 21_600_000 },
  month: { label: "30 days", spanMs: 2_592_000_000, bucketMs: 86_400_000 },
} as const;
export type RangeName = keyof typeof RANGES;

export interface AuditSearch extends Omit<AdminEventFilter, "fromMs" | "toMs" | "node"> {
  readonly range?: RangeName | undefined;
}

const LISTS: Readonly<Record<string, readonly string[]>> = {
  subjectType: SUBJECT_TYPES,
  resourceType: RESOURCE_TYPES,
  operation: [...new Set(Object.values(OPERATIONS).flat())],
  decision: OUTCOMES,
  decisionSource: DECISION_SOURCES,
  range: Object.keys(RANGES),
};
const TEXTS = ["subjectName", "target", "type", "code", "sessionKey", "taskId", "requestId"] as const;
const PRINCIPALS = ["userId", "organizationId"] as const;

export function parseAuditSearch(raw: Readonly<Record<string, unknown>>): AuditSearch {
  const lists = Object.entries(LISTS).flatMap(([field, values]) =>
    values.includes(raw[field] as string) ? [[field, raw[field]]] : [],
  );
  const texts = TEXTS.flatMap((field) => {
    const value = raw[field];
    return typeof value === "string" && value !== ""
      ? [[field, value]]
      : typeof value === "number"
        ? [[field, String(value)]]
        : [];
  });
  const principals = PRINCIPALS.flatMap((field) => {
    const value = raw[field];
    return typeof value === "number" || (typeof value === "string" && value !== "") ? [[field, value]] : [];
  });
  return Object.fromEntries([...lists, ...texts, ...principals]) as AuditSearch;
}
