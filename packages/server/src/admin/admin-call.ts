/**
 * One call of the administration API: who is behind it, what it asks, and how the answer travels. Every route is a row of
 * a table, from which the routes and the OpenAPI document are made.
 */
import type { CallerContext } from "@sallyport/contract";
import {
  ADMIN_PAGE_LIMIT,
  type AdminQuery,
  type AdminQueryName,
  type TokenScope,
  isCursorText,
  parseAdminQuery,
} from "@sallyport/contract/admin";
import type { PageRequest } from "@sallyport/store";
import type { z } from "zod";
import type { CallHead } from "../incoming-call.ts";
import { Problem, malformed } from "../problem.ts";
import type { Person } from "../sign-in/person.ts";

export interface AdminCall {
  readonly caller: CallerContext;
  /** `null` only on routes that are open. */
  readonly person: Person | null;
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: AdminQuery;
  /** Parsed by the wire of the route; `undefined` where it has none. */
  readonly body: unknown;
  readonly head: CallHead;
  /** Aborted when the caller is gone. */
  readonly gone: () => AbortSignal;
}

interface AnyWire {
  readonly schema: z.ZodType;
  readonly parse: (value: unknown) => unknown;
  readonly format: (value: never) => unknown;
}

export interface AdminRoute {
  readonly method: "GET" | "POST";
  /** Below `/v1`; `:id` for a part that varies. */
  readonly path: string;
  readonly summary: string;
  /** What a token of a person must be for. Left out: no token is taken. */
  readonly scope?: TokenScope;
  readonly query?: AdminQueryName;
  readonly body?: AnyWire;
  /** `events`: server-sent events of this wire. `lines`: JSON lines. */
  readonly answer: AnyWire;
  readonly stream?: "events" | "lines";
  /** Is made all the time: passes by the framework. A POST without a part that varies. */
  readonly isQuick?: true;
  /** Answers people who are not signed in. */
  readonly open?: true;
  /** The answer as a value of its wire, or a response that is one already. */
  readonly handle: (call: AdminCall) => Promise<unknown>;
}

export type AdminRoutes = readonly AdminRoute[];

/** What the query of a call says; a filter that is not understood is refused, because ignoring it would widen. */
export function queryOf(name: AdminQueryName | undefined, search: string): AdminQuery {
  if (search === "") return {};
  const searchParams = new URLSearchParams(search);
  if (name === undefined) {
    if (searchParams.size > 0) throw malformed("this call takes no query");
    return {};
  }
  const parsed = parseAdminQuery(name, searchParams);
  if (parsed.ok) return parsed.value;
  throw new Problem({
    code: "invalid_request",
    detail: "the query does not have the form that this call takes: correct what `faults` points at",
    faults: parsed.faults,
  });
}

/** The query without the page. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each list has its own filter
export function filterOf<Filter>(query: AdminQuery): Filter {
  const { limit: _limit, after: _after, order: _order, ...filter } = query;
  return filter as Filter;
}

export function pageOf<Cursor>(query: AdminQuery): PageRequest<Cursor> {
  const { limit, after, order } = query;
  return {
    limit: typeof limit === "number" ? limit : ADMIN_PAGE_LIMIT,
    order: order === "oldest" ? "oldest" : "newest",
    after: typeof after === "string" ? (cursorOf(after) as Cursor) : null,
  };
}

/** A page as it travels. */
export function pageAnswer<Row>(page: { readonly rows: readonly Row[]; readonly next: unknown }): {
  readonly rows: readonly Row[];
  readonly next: string | null;
} {
  return { rows: page.rows, next: page.next === null ? null : cursorText(page.next) };
}

export const cursorText = (place: unknown): string =>
  Buffer.from(JSON.stringify(place), "utf8").toString("base64url");

/** INVARIANT: a place that this server could not have given reaches no query. */
function cursorOf(text: string): object {
  try {
    if (!isCursorText(text)) throw new TypeError("not a cursor");
    const place: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (!isPlace(place)) throw new TypeError("not a cursor");
    return place;
  } catch {
    throw malformed("`after` is not a place that this server gave: begin again without it");
  }
}

/** A moment, and with it an id, a place in a chain, or a session. */
function isPlace(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const { timeMs, ...rest } = value as Readonly<Record<string, unknown>>;
  if (!Number.isSafeInteger(timeMs)) return false;
  return PLACES.some((fields) => hasExactly(rest, fields));
}

type Field = (value: unknown) => boolean;

const isName: Field = (value) => typeof value === "string" && !value.includes("\0");
const isPrincipal: Field = (value) => value === null || Number.isSafeInteger(value) || isName(value);

const PLACES: readonly Readonly<Record<string, Field>>[] = [
  { id: isName },
  { node: isName, seq: Number.isSafeInteger },
  { organizationId: isPrincipal, userId: isPrincipal, sessionKey: isName },
];

function hasExactly(
  given: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, Field>>,
): boolean {
  const names = Object.keys(fields);
  return (
    Object.keys(given).length === names.length &&
    names.every((name) => Object.hasOwn(given, name) && fields[name]?.(given[name]) === true)
  );
}

export const paramOf = ({ params }: AdminCall, name: string): string => params[name] ?? "";

/** For lists that are whole: everything on one page. */
export const wholePage = <Row>(
  rows: readonly Row[],
): { readonly rows: readonly Row[]; readonly next: null } => ({
  rows,
  next: null,
});

export const notFound = (what: string): Problem =>
  new Problem({ code: "not_found", detail: `there is no such ${what}` });
