import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../postgres/open-postgres-store.ts";
import { openPostgresEngine } from "../postgres/postgres-engine.ts";
import { openSqliteStore } from "../sqlite/open-sqlite-store.ts";
import { openSqliteEngine } from "../sqlite/sqlite-engine.ts";
import type { AccessStore } from "../port.ts";
import { type PostgresServer, startPostgres } from "../testing/postgres-server.ts";
import { bytesOf } from "./columns.ts";
import type { Engine, EngineKind } from "./engine.ts";
import { MIGRATIONS } from "./migrations.ts";

/** The first schema as it was released, and a store of that time with rows in every table. Never edited. */
const FILE = readFileSync(new URL("released/schema-1.json", import.meta.url), "utf8");
const FILE_SHA256 = "37fe1169f81ff8b4b9c2dd5a05361c04f00acde63c3e9cfa8b419039fbb90df8";

type Value = string | number | null | { readonly hex: string };
type Row = Readonly<Record<string, Value>>;
interface Released extends Readonly<Record<EngineKind, readonly string[]>> {
  readonly rows: Readonly<Record<string, readonly Row[]>>;
}
const RELEASED = JSON.parse(FILE) as Released;
const TABLES = Object.entries(RELEASED.rows);

interface Place {
  readonly engine: () => Promise<Engine>;
  readonly store: () => Promise<AccessStore>;
}

let server: PostgresServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sp-released-"));
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function sqlitePlace(): Promise<Place> {
  const path = join(folder, "store.db");
  const settings = { ownerWaitMs: 0, waitMs: 1000, version: "test" };
  return { engine: () => openSqliteEngine(path, settings), store: () => openSqliteStore({ path }) };
}

async function postgresPlace(): Promise<Place> {
  const url = await server.makeDatabase();
  const settings = { connectionsMax: 2, connectTimeoutMs: 5000, statementTimeoutMs: 5000 };
  return {
    engine: async () => openPostgresEngine({ url, ...settings }),
    store: () => openPostgresStore({ url }),
  };
}

function literal(kind: EngineKind, value: Value): string {
  if (value === null) return "null";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return kind === "sqlite" ? `x'${value.hex}'` : `'\\x${value.hex}'`;
}

const columnsOf = (row: Row): string =>
  Object.keys(row)
    .map((name) => `"${name}"`)
    .join(", ");

/** A store as the first version left it. */
async function leaveFirst(engine: Engine): Promise<void> {
  const session = await engine.begin("write");
  const run = (text: string) => session.execute(text, []);
  const strict = engine.kind === "sqlite" ? " strict" : "";
  await run(
    `create table "schema_version" ("version" ${engine.kind === "sqlite" ? "integer" : "bigint"} not null, "applied_ms" ${engine.kind === "sqlite" ? "integer" : "bigint"} not null, primary key ("version"))${strict}`,
  );
  await run(`insert into "schema_version" ("version", "applied_ms") values (1, 1)`);
  for (const text of RELEASED[engine.kind]) await run(text);
  await run(`delete from "counter"`);
  for (const [table, rows] of TABLES) {
    for (const row of rows) {
      const values = Object.values(row).map((value) => literal(engine.kind, value));
      await run(`insert into "${table}" (${columnsOf(row)}) values (${values.join(", ")})`);
    }
  }
  await session.commit();
  await engine.close();
}

async function rowsNow(engine: Engine): Promise<Record<string, readonly Row[]>> {
  const session = await engine.begin("read");
  const found: Record<string, readonly Row[]> = {};
  for (const [table, [first]] of TABLES) {
    const { rows } = await session.execute(`select ${columnsOf(first as Row)} from "${table}"`, []);
    found[table] = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === "object" && value !== null
            ? { hex: Buffer.from(bytesOf(value as Uint8Array)).toString("hex") }
            : (value as Value),
        ]),
      ),
    );
  }
  await session.rollback();
  await engine.close();
  return found;
}

test("the released schema stands as it was released: a change is a new migration", () => {
  expect(createHash("sha256").update(FILE).digest("hex")).toBe(FILE_SHA256);
  for (const kind of ["sqlite", "postgres"] as const)
    expect(MIGRATIONS[0]?.statements(kind)).toEqual(RELEASED[kind]);
});

test("the released store has rows in every table of the first schema", () => {
  const made = RELEASED.sqlite.flatMap((text) => /^create table "(\w+)"/.exec(text)?.[1] ?? []);
  expect(TABLES.map(([table]) => table).toSorted()).toEqual(made.toSorted());
  for (const [table, rows] of TABLES) expect(rows.length, table).toBeGreaterThan(0);
});

describe.each([
  ["SQLite", sqlitePlace],
  ["PostgreSQL", postgresPlace],
])("a store of the first version on %s", (_name, makePlace) => {
  test("opens with this version, with every row as it was, and goes on", async () => {
    const place = await makePlace();
    await leaveFirst(await place.engine());
    const store = await place.store();
    await store.read(async (tx) => {
      expect(await tx.requests.get("r-1")).toMatchObject({ status: "pending", userId: "anna" });
      expect(await tx.continuations.listOf("r-1")).toHaveLength(2);
      expect((await tx.jobs.list({}, { limit: 9 })).rows.map(({ state }) => state).toSorted()).toEqual([
        "leased",
        "ready",
      ]);
      expect(await tx.approvals.get("a-1")).toMatchObject({ maxUses: 3, scope: "permanent" });
      expect(await tx.approvals.get("a-2")).toMatchObject({ scope: "session", sessionKey: "s-1" });
      const { rows: approvals } = await tx.approvals.list({}, { limit: 9 });
      expect(approvals.map(({ id }) => id).toSorted()).toEqual(["a-1", "a-2"]);
      const { rows: waiting } = await tx.requests.list({ status: "pending" }, { limit: 9 });
      expect(waiting.map(({ id }) => id)).toContain("r-1");
      expect(await tx.denials.get("d-1")).toMatchObject({ reason: "not this one" });
      expect(await tx.rules.list()).toMatchObject([{ id: "rule-1", effect: "deny" }]);
      expect(await tx.sessions.isEnded({ organizationId: 21, userId: "anna", sessionKey: "s-0" })).toBe(true);
      expect((await tx.settings.get("permission_mode"))?.value).toMatchObject({ mode: "plan" });
      expect(await tx.revisions.changesAfter(0, 9)).toMatchObject([{ revision: 1, body: ["x"] }]);
      expect(await tx.revisions.current()).toBe(1);
      expect(await tx.nodes.get("node-a")).toMatchObject({ info: { version: "0.1.0" } });
      expect(await tx.events.range("node-a", { from: 1, to: 9, limit: 9 })).toMatchObject([
        { seq: 1, body: '{"seq":1}', taskId: null },
        { seq: 2, userId: 5, organizationId: null },
      ]);
      expect(await tx.checkpoints.latestOf("node-a")).toMatchObject({ seq: 2, keyId: "key-1" });
    });
    await store.close();
    const sorted = (rows: Readonly<Record<string, readonly Row[]>>) =>
      Object.entries(rows).map(([table, held]) => [table, held.map((row) => JSON.stringify(row)).toSorted()]);
    expect(sorted(await rowsNow(await place.engine()))).toEqual(sorted(RELEASED.rows));
    const again = await place.store();
    await again.transaction(async (tx) => {
      expect(await tx.requests.touchPending("r-1", 9000)).toBe(2);
      expect(await tx.revisions.append({ body: null, createdMs: 1 })).toBe(2);
    });
    await again.close();
  });
});
