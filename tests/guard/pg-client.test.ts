/** pg, unchanged, in a guarded process: it works with the real server that is declared, and reaches no other. */
import { dirname } from "node:path";
import { afterAll, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type PostgresServer, startPostgres } from "../../packages/store/src/testing/postgres-server.ts";
import { obtainPackage } from "../../tools/cached-package.mjs";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let postgres: PostgresServer;
let world: GuardedWorld;
let database: string;
let pg: string;

/** Where a client of this URL connects to. */
function endpointOf(text: string): string {
  const url = new URL(text);
  const folder = url.searchParams.get("host");
  const port = url.port === "" ? "5432" : url.port;
  return folder === null ? `${url.hostname}:${port}` : `unix:${folder}/.s.PGSQL.${port}`;
}

worldOfFile(async (preload) => {
  pg = await obtainPackage("pg", "8.23.1");
  postgres = await startPostgres();
  database = await postgres.makeDatabase();
  world = await openWorld(preload, () => [
    entry("network", "connect", endpointOf(database)),
    entry("filesystem", "read", `${dirname(pg)}/`),
  ]);
  return world;
});
afterAll(() => postgres.stop());

it("asks the declared server, by a client and by a pool, and is blocked at another", async () => {
  const found = await outcomes(
    world,
    `query: () => used(new Client(database), async (client) => { await client.connect(); return (await client.query("select $1::int + 1 as sum", [41])).rows[0].sum; }),
     pool: () => used(new Pool({ connectionString: database, max: 2 }), async (pool) => { await pool.query("create table port (name text)"); await Promise.all([1, 2, 3].map((n) => pool.query("insert into port values ($1)", [String(n)]))); return (await pool.query("select count(*)::int as n from port")).rows[0].n; }),
     blocked: () => used(new Client({ host: at.secret, user: "a", database: "b" }), (client) => client.connect()),
     blockedPort: () => used(new Client({ host: "127.0.0.1", port: 1, user: "a", database: "b" }), (client) => client.connect())`,
    {
      before: `
const { Client, Pool } = require(${JSON.stringify(pg)});
const database = ${JSON.stringify(database)};
const used = async (one, work) => { one.on("error", () => {}); try { return await work(one); } finally { await one.end().catch(() => {}); } };`,
      codeRoots: [dirname(pg)],
      waitMs: 0,
    },
  );
  const blocked = expect.stringMatching(/ERR_ACCESS_DENIED/) as unknown;
  expect(found).toEqual({ query: 42, pool: 3, blocked, blockedPort: blocked });
});
