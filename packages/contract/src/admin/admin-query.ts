/**
 * Filters and pages as they stand in the query of a call, one way for client and server. Every identity field is a field
 * of its own. A name is checked here; a value that belongs to a closed list is checked against that list.
 * INVARIANT: `21` and `"21"` are two users: a number is written bare, a text that looks like one in quotation marks.
 */
import { DECISION_SOURCES, OUTCOMES, PHASES } from "../decision.ts";
import { OPERATIONS, RESOURCE_TYPES } from "../resource.ts";
import { SUBJECT_TYPES } from "../subject.ts";
import { camelKey, snakeKey } from "../wire/camel-case.ts";
import { type PointedFault, isWellFormed } from "../wire/json-value.ts";
import { REQUEST_STATUSES } from "../wire/pending-request.ts";
import { ADMIN_PAGE_LIMIT_MAX, CURSOR_LENGTH_MAX } from "./admin-page.ts";
import { DELIVERY_STATES } from "./delivery-view.ts";
import { JOB_VIEW_STATES } from "./run-view.ts";

type Kind =
  | { readonly kind: "text" }
  | { readonly kind: "list"; readonly values: readonly string[] }
  /** A text, or `null`. */
  | { readonly kind: "nullable" }
  /** A number, a text, or `null`. */
  | { readonly kind: "principal" }
  | { readonly kind: "integer"; readonly min: number; readonly max: number };

const text: Kind = { kind: "text" };
const nullable: Kind = { kind: "nullable" };
const principal: Kind = { kind: "principal" };
const list = (values: readonly string[]): Kind => ({ kind: "list", values });
const time: Kind = { kind: "integer", min: 0, max: Number.MAX_SAFE_INTEGER };

const OPERATION_NAMES = [...new Set(Object.values(OPERATIONS).flat())];

const IDENTITY = {
  subject_type: list(SUBJECT_TYPES),
  subject_name: text,
  resource_type: list(RESOURCE_TYPES),
  operation: list(OPERATION_NAMES),
  target: text,
} as const;
const SESSION = { organization_id: principal, user_id: principal, session_key: nullable } as const;
const PAGE = {
  limit: { kind: "integer", min: 1, max: ADMIN_PAGE_LIMIT_MAX },
  after: text,
  order: list(["newest", "oldest"]),
} as const satisfies Readonly<Record<string, Kind>>;
const EVENTS = {
  ...IDENTITY,
  ...SESSION,
  task_id: nullable,
  request_id: text,
  node: text,
  type: text,
  code: text,
  decision: list(OUTCOMES),
  decision_source: list(DECISION_SOURCES),
  /** Milliseconds; inclusive. */
  from_ms: time,
  /** Milliseconds; exclusive. */
  to_ms: time,
} as const;

/** The query of each call that has one. */
export const ADMIN_QUERIES = {
  requests: { ...IDENTITY, ...SESSION, ...PAGE, task_id: nullable, status: list(REQUEST_STATUSES) },
  approvals: {
    ...IDENTITY,
    ...SESSION,
    ...PAGE,
    scope: list(["session", "permanent"]),
    request_id: text,
  },
  denials: { ...IDENTITY, ...PAGE },
  jobs: { ...PAGE, state: list(JOB_VIEW_STATES), request_id: text, approval_id: text },
  deliveries: { ...PAGE, state: list(DELIVERY_STATES) },
  use: { subject_type: list(SUBJECT_TYPES), subject_name: text, phase: list(PHASES) },
  profiles: { ...PAGE, subject_type: list(SUBJECT_TYPES), subject_name: text },
  pages: PAGE,
  events: { ...EVENTS, ...PAGE },
  follow: { ...EVENTS, after: text },
  stats: { ...EVENTS, bucket_ms: { kind: "integer", min: 1000, max: 366 * 86_400_000 } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Kind>>>>;
export type AdminQueryName = keyof typeof ADMIN_QUERIES;

/** Names in camelCase, values as they are meant; what is not given does not narrow. */
export type AdminQuery = Readonly<Record<string, string | number | null | undefined>>;

export type QueryResult =
  | { readonly ok: true; readonly value: AdminQuery }
  | { readonly ok: false; readonly faults: readonly PointedFault[] };

const VALUE_LENGTH_MAX = 32_768;

/** Pairs of name and value, for a URL; the caller escapes them. */
export function formatAdminQuery(query: AdminQuery): readonly (readonly [string, string])[] {
  return Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[snakeKey(name), valueText(name, value)] as const],
  );
}

const BARE_TEXT = new Set(["limit", "after", "order"]);

function valueText(name: string, value: string | number | null): string {
  if (typeof value !== "string" || BARE_TEXT.has(name)) return String(value);
  return mustBeQuoted(value) ? JSON.stringify(value) : value;
}

const mustBeQuoted = (value: string): boolean =>
  value === "null" || value.startsWith('"') || /^-?[0-9]+$/.test(value);

/** Every fault, not only the first. A name that the call does not know is one: a filter that is not applied would lie. */
export function parseAdminQuery(
  call: AdminQueryName,
  pairs: Iterable<readonly [string, string]>,
): QueryResult {
  const kinds: Readonly<Record<string, Kind>> = ADMIN_QUERIES[call];
  const value: Record<string, string | number | null> = {};
  const faults: PointedFault[] = [];
  for (const [name, given] of pairs) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const pointer = `/${name.slice(0, 64).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (kind === undefined) {
      const known = Object.keys(kinds).join(", ");
      faults.push({ pointer, message: `unknown filter: use one of ${known}` });
      continue;
    }
    const key = camelKey(name);
    if (Object.hasOwn(value, key)) {
      faults.push({ pointer, message: "is given twice: give it once" });
      continue;
    }
    const read = readValue(kind, given);
    if (read.ok) value[key] = read.value;
    else faults.push({ pointer, message: read.message });
  }
  return faults.length === 0 ? { ok: true, value: Object.freeze(value) } : { ok: false, faults };
}

type Read =
  | { readonly ok: true; readonly value: string | number | null }
  | { readonly ok: false; readonly message: string };

function readValue(kind: Kind, given: string): Read {
  if (given.includes("\0") || !isWellFormed(given))
    return { ok: false, message: "holds a character that cannot be kept: leave it out" };
  if (given.length > VALUE_LENGTH_MAX)
    return { ok: false, message: `must have at most ${VALUE_LENGTH_MAX} characters` };
  switch (kind.kind) {
    case "text":
      return textValue(given);
    case "list":
      return kind.values.includes(given)
        ? { ok: true, value: given }
        : { ok: false, message: `must be one of ${kind.values.join(", ")}` };
    case "nullable":
      return given === "null" ? { ok: true, value: null } : textValue(given);
    case "principal":
      if (given === "null") return { ok: true, value: null };
      if (!/^-?[0-9]+$/.test(given)) return textValue(given);
      return Number.isSafeInteger(Number(given))
        ? { ok: true, value: Number(given) }
        : { ok: false, message: "must be a number that can be kept exactly" };
    case "integer": {
      const value = /^[0-9]+$/.test(given) ? Number(given) : Number.NaN;
      return value >= kind.min && value <= kind.max
        ? { ok: true, value }
        : { ok: false, message: `must be a whole number from ${kind.min} to ${kind.max}` };
    }
  }
}

function textValue(given: string): Read {
  if (!given.startsWith('"')) return { ok: true, value: given };
  try {
    const value: unknown = JSON.parse(given);
    if (typeof value === "string" && !value.includes("\0") && isWellFormed(value)) return { ok: true, value };
  } catch {
    // Falls through: what is no JSON text is a fault of the caller.
  }
  return { ok: false, message: "must be a text, in quotation marks only where it looks like a number" };
}

/** `next` of a page, as the server made it from a place in its list. */
export function isCursorText(given: string): boolean {
  return given.length <= CURSOR_LENGTH_MAX && /^[A-Za-z0-9_-]+$/.test(given);
}
