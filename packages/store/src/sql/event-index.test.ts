/** Searches of the audit log are served by an index: the planner is asked, on rows enough to matter. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresEngine } from "../postgres/postgres-engine.ts";
import { type SqliteConnection, connect } from "../sqlite/driver.ts";
import { type SqliteEngine, openSqliteEngine } from "../sqlite/sqlite-engine.ts";
import { type PostgresServer, startPostgres } from "../testing/postgres-server.ts";
import { newEvent } from "../testing/sample-rows.ts";
import type { Engine } from "./engine.ts";
import { migrate } from "./migrate.ts";
import { SqlStore } from "./sql-store.ts";

const ROWS = 4000;

/** A condition of a search, and the index that has to serve it. */
const SEARCHES = {
  event_by_subject: `"subject_type" = 'tool' and "subject_name" = 'demo.rare'`,
  event_by_request: `"request_id" = 'r-7'`,
  event_by_session: `"session_key" = 's-7' and "session_key" <> ''`,
  event_by_user: `"user_id" = '7'`,
  event_by_task: `"task_id" = 'task-7'`,
  event_by_code: `"code" = 'denied_rule'`,
  event_by_source: `"decision_source" = 'host_rule'`,
  event_by_target: `"target" = '/data/7'`,
  event_by_time: `"time_ms" >= 1500 and "time_ms" < 1510`,
} as const;

let server: PostgresServer;
let folder: string;
let engines: { readonly sqlite: SqliteEngine; readonly postgres: Engine };
let copy: SqliteConnection;

beforeAll(async () => {
  server = await startPostgres();
  folder = mkdtempSync(join(tmpdir(), "sp-index-"));
  const options = { ownerWaitMs: 0, waitMs: 1000, version: "test" };
  const url = await server.makeDatabase();
  engines = {
    sqlite: await openSqliteEngine(join(folder, "store.db"), options),
    postgres: openPostgresEngine({
      url,
      connectionsMax: 2,
      connectTimeoutMs: 5000,
      statementTimeoutMs: 5000,
    }),
  };
  for (const engine of Object.values(engines)) await fill(engine);
  await engines.sqlite.copyTo(join(folder, "copy.db"));
  copy = connect(join(folder, "copy.db"));
});
afterAll(async () => {
  copy.close();
  for (const engine of Object.values(engines)) await engine.close();
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

/** One row in so many is what is looked for. */
async function fill(engine: Engine): Promise<void> {
  await migrate(engine);
  const rows = Array.from({ length: ROWS }, (_, at) => {
    const isRare = at % 500 === 7;
    return newEvent("n-1", at + 1, {
      target: `/data/${at}`,
      sessionKey: `s-${at}`,
      userId: at,
      subjectName: isRare ? "demo.rare" : "demo.read_file",
      requestId: `r-${at}`,
      taskId: `task-${at}`,
      code: isRare ? "denied_rule" : "allowed_sandbox",
      decisionSource: isRare ? "host_rule" : "manifest",
    });
  });
  await new SqlStore(engine).transaction((tx) => tx.events.append(rows));
  // WHY: a store on SQLite has no statistics; a server of PostgreSQL gathers its own.
  if (engine.kind === "sqlite") return;
  const session = await engine.begin("write");
  await session.execute("analyze", []);
  await session.commit();
}

/**
 * WHY: SQLite is asked on a copy. It holds an `explain` for running until it is reset, which libsql leaves out, and a
 * connection with a running statement cannot give its lock back when the store is closed.
 */
async function planOf(kind: keyof typeof engines, where: string): Promise<string> {
  const query = `select * from "event" where ${where} order by "time_ms" desc, "node" desc, "seq" desc limit 50`;
  if (kind === "sqlite")
    return JSON.stringify(
      copy.run(`explain query plan ${query.replace("where", 'where "indexed" = 1 and')}`).rows,
    );
  const session = await engines.postgres.begin("write");
  try {
    return JSON.stringify((await session.execute(`explain ${query}`, [])).rows);
  } finally {
    await session.commit();
  }
}

describe.each(["sqlite", "postgres"] as const)("a search of the log on %s", (kind) => {
  test.each(Object.entries(SEARCHES))("is served by %s", async (index, where) => {
    expect(await planOf(kind, where)).toContain(index);
  });

  test("by a target longer than a key of an index may be is possible", async () => {
    const store = new SqlStore(engines[kind]);
    const target = `/${"long-name/".repeat(800)}x`;
    await store.transaction((tx) => tx.events.append([newEvent("n-9", 1, { target })]));
    const { rows } = await store.read((tx) => tx.events.search({ target }, { limit: 5 }));
    expect(rows.map(({ node }) => node)).toEqual(["n-9"]);
  });
});
