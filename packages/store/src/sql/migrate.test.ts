import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { StoreSchemaError } from "../errors.ts";
import { openPostgresEngine } from "../postgres/postgres-engine.ts";
import { openSqliteEngine } from "../sqlite/sqlite-engine.ts";
import { type PostgresServer, startPostgres } from "../testing/postgres-server.ts";
import { newEvent, newRequest } from "../testing/sample-rows.ts";
import type { Engine, RawRow } from "./engine.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";
import { SqlStore } from "./sql-store.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

let clean: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of clean.toReversed()) await step();
  clean = [];
});

/** A way to open the same place again and again. */
type Open = () => Promise<Engine>;

async function sqlitePlace(): Promise<Open> {
  const folder = mkdtempSync(join(tmpdir(), "sp-migrate-"));
  clean.push(async () => rmSync(folder, { recursive: true, force: true }));
  return () => openSqliteEngine(join(folder, "store.db"), { ownerWaitMs: 0, waitMs: 1000, version: "test" });
}

async function postgresPlace(): Promise<Open> {
  const url = await server.makeDatabase();
  return async () =>
    openPostgresEngine({ url, connectionsMax: 4, connectTimeoutMs: 5000, statementTimeoutMs: 5000 });
}

const NEXT = (MIGRATIONS.at(-1)?.version ?? 0) + 1;
/** What a later version may do: a new column with a value for the rows that are there, and an index on it. */
const later: Migration = {
  version: NEXT,
  statements: () => [
    `alter table "setting" add column "changed_by" text`,
    `update "setting" set "changed_by" = 'before'`,
    `create index "setting_by_time" on "setting" ("changed_ms")`,
  ],
};

async function query(engine: Engine, text: string): Promise<readonly RawRow[]> {
  const session = await engine.begin("read");
  try {
    return (await session.execute(text, [])).rows;
  } finally {
    await session.rollback();
  }
}

describe.each([
  ["SQLite", sqlitePlace],
  ["PostgreSQL", postgresPlace],
])("migration on %s", (_name, makePlace) => {
  test("an empty place gets every step, and a second run finds nothing to do", async () => {
    const engine = await (await makePlace())();
    expect(await migrate(engine)).toBe(0);
    expect(await migrate(engine)).toBe(NEXT - 1);
    const versions = await query(engine, `select "version" from "schema_version" order by "version"`);
    expect(versions.map((row) => row["version"])).toEqual(MIGRATIONS.map(({ version }) => version));
    await engine.close();
  });

  test("the first schema with data in it is upgraded and loses nothing", async () => {
    const open = await makePlace();
    const old = await open();
    const first = MIGRATIONS.slice(0, 1);
    await migrate(old, first);
    const store = new SqlStore(old);
    await store.transaction(async (tx) => {
      await tx.requests.insert(newRequest("r-1"));
      await tx.settings.set("mode", { mode: "plan" }, 5);
      await tx.revisions.append({ body: ["x"], createdMs: 1 });
    });
    await store.close();

    const upgraded = await open();
    expect(await migrate(upgraded, [...MIGRATIONS, later])).toBe(1);
    const again = new SqlStore(upgraded);
    await again.read(async (tx) => {
      expect(await tx.requests.get("r-1")).toMatchObject({ ...newRequest("r-1"), status: "pending" });
      expect((await tx.settings.get("mode"))?.value).toEqual({ mode: "plan" });
      expect(await tx.revisions.current()).toBe(1);
    });
    expect(await query(upgraded, `select "changed_by" from "setting"`)).toMatchObject([
      { changed_by: "before" },
    ]);
    await again.close();
  });

  test("a store of a newer version is refused and not touched", async () => {
    const open = await makePlace();
    const newer = await open();
    await migrate(newer, [...MIGRATIONS, later]);
    await newer.close();
    const engine = await open();
    await expect(migrate(engine)).rejects.toBeInstanceOf(StoreSchemaError);
    await expect(migrate(engine)).rejects.toMatchObject({ found: NEXT, supported: NEXT - 1 });
    expect(await query(engine, `select max("version") as newest from "schema_version"`)).toMatchObject([
      { newest: NEXT },
    ]);
    await engine.close();
  });

  test("a step that fails leaves the schema before it", async () => {
    const engine = await (await makePlace())();
    await migrate(engine);
    const broken: Migration = {
      version: NEXT,
      statements: (kind) => [...later.statements(kind), "this is not a statement"],
    };
    await expect(migrate(engine, [...MIGRATIONS, broken])).rejects.toThrow();
    expect(await migrate(engine)).toBe(NEXT - 1);
    await expect(query(engine, `select "changed_by" from "setting"`)).rejects.toThrow();
    expect(await migrate(engine, [...MIGRATIONS, later])).toBe(NEXT - 1);
    await engine.close();
  });
});

test("a SQLite store of the fifth schema keeps its lists, its searches and its revision", async () => {
  const open = await sqlitePlace();
  const old = await open();
  await migrate(old, MIGRATIONS.slice(0, 5));
  const before = new SqlStore(old);
  await before.transaction(async (tx) => {
    for (const id of ["r-1", "r-2", "r-3"]) await tx.requests.insert(newRequest(id, { target: `/${id}` }));
    const words = { decidedBy: null, decidedAtMs: 1, reason: null, approvalId: null };
    await tx.requests.settle("r-2", { from: "pending", to: "denied", ...words });
    await tx.events.append([1, 2, 3, 4].map((seq) => newEvent("n-1", seq, { code: "denied_rule" })));
  });
  const session = await old.begin("write");
  // What that version left: rows of decisions before and behind those of a batch, and a log that was trimmed.
  await session.execute(`update "event" set "indexed" = "seq" % 2`, []);
  await session.execute(`update "counter" set "value" = 7`, []);
  await session.commit();
  await before.close();

  const upgraded = await open();
  expect(await migrate(upgraded)).toBe(5);
  const store = new SqlStore(upgraded);
  await store.read(async (tx) => {
    const found = await tx.events.search({ code: "denied_rule" }, { limit: 9, order: "oldest" });
    expect(found.rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    const ids = async (status: "pending" | "denied") =>
      (await tx.requests.list({ status }, { limit: 9, order: "oldest" })).rows.map(({ id }) => id);
    expect(await ids("pending")).toEqual(["r-1", "r-3"]);
    expect(await ids("denied")).toEqual(["r-2"]);
    expect((await tx.requests.due(Number.MAX_SAFE_INTEGER, 9)).map(({ id }) => id)).toEqual(["r-1", "r-3"]);
    expect(await tx.revisions.current()).toBe(7);
  });
  expect(await store.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }))).toBe(8);
  await store.close();
});

test("nodes that start at the same time on a new database do not trip over each other", async () => {
  const open = await postgresPlace();
  const engines = await Promise.all(Array.from({ length: 6 }, open));
  await Promise.all(engines.map((engine) => migrate(engine)));
  for (const engine of engines) expect(await migrate(engine)).toBe(NEXT - 1);
  await Promise.all(engines.map((engine) => engine.close()));
});

test("versions rise by one from the first", () => {
  expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, at) => at + 1));
});
