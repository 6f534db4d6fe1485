/** How the manual says to copy a PostgreSQL store, and what two databases are compared by. */
import { readFileSync } from "node:fs";
import type { PostgresServer } from "@sallyport/store/testing";

/** The commands of the manual as they are to be typed: to dump, and to restore. */
export function documentedCommands(): readonly [string, string] {
  const text = readFileSync(new URL("../../../../docs/operations/backup.md", import.meta.url), "utf8");
  const section = text.split(/^## /m).find((part) => part.startsWith("PostgreSQL")) ?? "";
  const [first, second, ...more] = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block);
  if (first === undefined || second === undefined || more.length > 0)
    throw new Error("backup.md must have two blocks of commands for PostgreSQL: to dump and to restore");
  return [first, second];
}

const TABLES = `select tablename as name from pg_tables where schemaname = 'public' order by 1`;
const SHAPE = `
  select 'column' as kind, c.relname || '.' || a.attname as name,
         concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, co.collname, a.attidentity, pg_get_expr(d.adbin, d.adrelid)) as what
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_collation co on co.oid = a.attcollation
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
  union all select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'
  union all select 'constraint', conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
  union all select 'other', relname, relkind::text from pg_class where relnamespace = 'public'::regnamespace and relkind not in ('r', 'i')
  order by 1, 2, 3`;

/** Every row of every table, and what the tables are. */
export async function contentOf(server: PostgresServer, at: string) {
  const rows: Record<string, unknown> = {};
  for (const name of (await server.query(at, TABLES)).map((row) => String(row["name"])))
    rows[name] = await server.query(at, `select t::text as row from "${name}" t order by 1`);
  return { rows, shape: await server.query(at, SHAPE) };
}
