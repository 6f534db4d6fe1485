/**
 * Conditions that several tables share: equality by columns, keyset pages.
 * Column names come from the types of the tables, never from a caller; values are always parameters.
 */
import type { Subject } from "@sallyport/contract";
import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Cursor, Page, PageRequest } from "../port.ts";
import { checkedLimit } from "./columns.ts";
import type { Parameter } from "./engine.ts";

type Conditions<Table> = { readonly [K in keyof Table & string]?: Table[K] | undefined };

/** `undefined` does not narrow; `null` does. */
export function equal<Table>(conditions: Conditions<Table>): Expression<SqlBool> {
  const parts: RawBuilder<SqlBool>[] = [];
  for (const [column, value] of Object.entries(conditions)) {
    if (value === undefined) continue;
    parts.push(
      value === null ? sql<SqlBool>`${sql.ref(column)} is null` : sql<SqlBool>`${sql.ref(column)} = ${value}`,
    );
  }
  return parts.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(${sql.join(parts, sql` and `)})`;
}

/** Rows of any of these subjects. */
export function ofSubjects(subjects: readonly Subject[]): Expression<SqlBool> {
  const each = subjects.map(({ type, name }) =>
    equal<TupleColumns>({ subject_type: type, subject_name: name }),
  );
  return sql<SqlBool>`(${sql.join(each, sql` or `)})`;
}

type TupleColumns = { readonly subject_type: string; readonly subject_name: string };

export interface Paging {
  readonly after: Expression<SqlBool>;
  readonly direction: "asc" | "desc";
  /** One more than the page, to know whether another follows. */
  readonly fetch: number;
}

/** A page that begins behind `place` in the order of `columns`. */
export function paging(
  columns: readonly string[],
  place: readonly Parameter[] | null,
  request: Pick<PageRequest, "limit" | "order">,
): Paging {
  const oldestFirst = request.order === "oldest";
  return {
    after:
      place === null
        ? sql<SqlBool>`1 = 1`
        : sql<SqlBool>`(${sql.join(columns.map((column) => sql.ref(column)))}) ${sql.raw(oldestFirst ? ">" : "<")} (${sql.join(place)})`,
    direction: oldestFirst ? "asc" : "desc",
    fetch: checkedLimit(request.limit) + 1,
  };
}

export function pageOf<Raw, Row, C = Cursor>(
  raw: readonly Raw[],
  limit: number,
  { toRow, toCursor }: { readonly toRow: (raw: Raw) => Row; readonly toCursor: (raw: Raw) => C },
): Page<Row, C> {
  const shown = raw.slice(0, limit);
  const last = shown.at(-1);
  return Object.freeze({
    rows: Object.freeze(shown.map(toRow)),
    next: raw.length > limit && last !== undefined ? toCursor(last) : null,
  });
}

export const cursorPlace = (after: Cursor | null | undefined): readonly Parameter[] | null =>
  after === null || after === undefined ? null : [after.timeMs, after.id];
