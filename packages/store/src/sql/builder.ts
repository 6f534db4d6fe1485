/**
 * Query builders without a connection: Kysely writes the SQL of each dialect, the engine's session runs it.
 */
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { EngineKind } from "./engine.ts";
import type { Schema } from "./schema.ts";

const createDriver = () => new DummyDriver();

export function queryBuilder(kind: EngineKind): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect:
      kind === "postgres"
        ? {
            createDriver,
            createAdapter: () => new PostgresAdapter(),
            createQueryCompiler: () => new PostgresQueryCompiler(),
            createIntrospector: (db) => new PostgresIntrospector(db),
          }
        : {
            createDriver,
            createAdapter: () => new SqliteAdapter(),
            createQueryCompiler: () => new SqliteQueryCompiler(),
            createIntrospector: (db) => new SqliteIntrospector(db),
          },
  });
}
