/**
 * Brings a store to the newest schema this version knows, each step in a transaction of its own with its number.
 * Must never touch a store that a newer version wrote.
 */
import { StoreSchemaError } from "../errors.ts";
import type { Engine, Session } from "./engine.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";
import { table } from "./schema-statement.ts";

/** Only this number matters; it has to be the same in every version. */
const MIGRATION_LOCK = 7_305_883_041;

const versionTable = table("schema_version", { version: "integer", applied_ms: "integer" }, [
  'primary key ("version")',
]);

/** The version that was found, before anything was done; zero in an empty database. */
export async function migrate(
  engine: Engine,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<number> {
  const newest = migrations.at(-1)?.version ?? 0;
  let first: number | null = null;
  for (;;) {
    const found = await step(engine, migrations, newest);
    first ??= found;
    if (found >= newest) return first;
  }
}

/** Applies at most one migration. The version before it. */
async function step(engine: Engine, migrations: readonly Migration[], newest: number): Promise<number> {
  const session = await engine.begin("write");
  try {
    const found = await versionOf(engine, session);
    if (found > newest) throw new StoreSchemaError(found, newest);
    const next = migrations.find(({ version }) => version > found);
    if (next !== undefined) {
      for (const text of next.statements(engine.kind)) await session.execute(text, []);
      await session.execute(
        `insert into "schema_version" ("version", "applied_ms") values (${next.version}, ${Date.now()})`,
        [],
      );
    }
    await session.commit();
    return found;
  } catch (error) {
    await session.rollback();
    throw error;
  }
}

async function versionOf(engine: Engine, session: Session): Promise<number> {
  if (engine.kind === "postgres") {
    // WHY: nodes that start at the same time wait for each other here, however long a step takes.
    await session.execute("set local statement_timeout = 0", []);
    await session.execute(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
  }
  await session.execute(versionTable(engine.kind).replace("create table", "create table if not exists"), []);
  const { rows } = await session.execute(`select max("version") as version from "schema_version"`, []);
  return (rows[0]?.["version"] as number | null | undefined) ?? 0;
}
