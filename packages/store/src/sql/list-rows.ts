/**
 * Pages of a table in the order of a time and an id; rows that arrive later never shift them.
 * Names of tables and columns come from this package, never from a caller; values are always parameters.
 */
import { type Expression, type SqlBool, sql } from "kysely";
import type { Page, PageRequest } from "../port.ts";
import { cursorPlace, pageOf, paging } from "./conditions.ts";
import type { Schema } from "./schema.ts";
import type { Scope } from "./scope.ts";

/** The columns of a table that hold a moment. */
type TimeColumn<Table> = { [K in keyof Table]: K extends `${string}_ms` ? K : never }[keyof Table] & string;

export interface Listed<Table extends keyof Schema, Row> {
  readonly table: Table;
  readonly time: TimeColumn<Schema[Table]>;
  readonly where: Expression<SqlBool>;
  readonly toRow: (raw: Schema[Table]) => Row;
}

export async function listRows<Table extends keyof Schema, Row>(
  scope: Scope,
  { table, time, where, toRow }: Listed<Table, Row>,
  page: PageRequest,
): Promise<Page<Row>> {
  const { after, direction, fetch } = paging([time, "id"], cursorPlace(page.after), page);
  const order = sql.raw(direction);
  const query = sql`
    select * from ${sql.table(table)} where ${where} and ${after}
    order by ${sql.ref(time)} ${order}, ${sql.ref("id")} ${order} limit ${fetch}`;
  const { sql: text, parameters } = query.compile(scope.build);
  const found = (await scope.run(text, parameters)).rows as unknown as readonly Schema[Table][];
  return pageOf(found, page.limit, {
    toRow,
    toCursor: (raw) => {
      const { [time]: timeMs, id } = raw as unknown as Readonly<Record<string, number>> & {
        readonly id: string;
      };
      return Object.freeze({ timeMs: timeMs as number, id });
    },
  });
}
