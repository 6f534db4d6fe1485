import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { storeConformance } from "../testing/conformance.ts";
import { type PostgresServer, startPostgres } from "../testing/postgres-server.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
  url = await server.makeDatabase();
});
afterAll(() => server.stop());

/** WHY: ten times faster than a new database for every test. */
async function emptyStore(): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename not in ('schema_version', 'counter')`,
  );
  if (rows.length > 0) {
    await client.query(`truncate ${rows.map(({ name }) => name).join(", ")}`);
    await client.query("update counter set value = 0");
  }
  await client.end();
}

storeConformance("PostgreSQL", async () => {
  await emptyStore();
  const store = await openPostgresStore({ url });
  const other = await openPostgresStore({ url });
  return {
    store,
    other,
    dispose: async () => {
      await store.close();
      await other.close();
    },
  };
});
