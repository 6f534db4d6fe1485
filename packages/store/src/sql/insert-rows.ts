/**
 * Many rows in few statements. The text for a number of rows is written once and kept: building it again for
 * every batch costs more than running it.
 */
import { type Kysely, sql } from "kysely";
import type { Parameter } from "./engine.ts";
import type { Schema } from "./schema.ts";
import type { Scope } from "./scope.ts";

const CHUNK = 64;

/** INVARIANT: bounded: at most CHUNK texts per builder and table. */
const texts = new WeakMap<Kysely<Schema>, Map<string, Map<number, string>>>();

export async function insertRows<Table extends keyof Schema>(
  scope: Scope,
  table: Table,
  columns: readonly (keyof Schema[Table] & string)[],
  rows: readonly (readonly Parameter[])[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += CHUNK) {
    const chunk = rows.slice(start, start + CHUNK);
    const parameters: Parameter[] = [];
    // WHY not `flat`: it looks at every value, and this is the busiest write of all.
    for (const row of chunk) parameters.push(...row);
    const answer = scope.run(textFor(scope.build, table, { columns, count: chunk.length }), parameters);
    if (answer instanceof Promise) await answer;
  }
}

function textFor(
  build: Kysely<Schema>,
  table: string,
  { columns, count }: { readonly columns: readonly string[]; readonly count: number },
): string {
  const tables = getOrMake(texts, build, () => new Map<string, Map<number, string>>());
  const counts = getOrMake(tables, table, () => new Map<number, string>());
  return getOrMake(counts, count, () => {
    const row = sql`(${sql.join(columns.map(() => sql`${null}`))})`;
    const rows = sql.join(Array.from({ length: count }, () => row));
    const names = sql.join(columns.map((column) => sql.ref(column)));
    return sql`insert into ${sql.table(table)} (${names}) values ${rows}`.compile(build).sql;
  });
}

function getOrMake<Key extends object | string | number, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
