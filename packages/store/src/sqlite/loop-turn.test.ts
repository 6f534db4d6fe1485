import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StoreUsageError } from "../errors.ts";
import { type SqliteStore, openSqliteStore } from "./open-sqlite-store.ts";

const STATEMENTS_MAX = 100_000;

let folder: string;
let store: SqliteStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sp-turn-"));
  store = await openSqliteStore({ path: join(folder, "store.db") });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** How many statements ran before the event loop turned. */
async function statementsBeforeTurn(statement: () => Promise<unknown>): Promise<number> {
  const loop = { turned: false };
  setImmediate(() => {
    loop.turned = true;
  });
  let statements = 0;
  while (!loop.turned && statements < STATEMENTS_MAX) {
    await statement();
    statements += 1;
  }
  return statements;
}

describe("long work on a SQLite store", () => {
  test("lets the event loop turn between the statements of one read", async () => {
    const statements = await store.read((tx) => statementsBeforeTurn(() => tx.settings.get("a")));
    expect(statements).toBeLessThan(STATEMENTS_MAX);
  });

  test("lets the event loop turn between short reads that follow each other", async () => {
    const one = () => store.read((tx) => tx.settings.get("a"));
    expect(await statementsBeforeTurn(one)).toBeLessThan(STATEMENTS_MAX);
  });

  test("never runs a statement after its transaction has ended", async () => {
    let late: Promise<unknown> = Promise.resolve();
    await store.transaction(async (tx) => {
      await tx.settings.set("a", 1, 1);
      // After a turn of the loop the next statement begins to count, so the one after the busy wait has to turn.
      await new Promise((resolve) => setImmediate(resolve));
      await tx.settings.get("a");
      const untilMs = performance.now() + 50;
      while (performance.now() < untilMs);
      late = tx.settings.set("b", 2, 1);
      late.catch(() => undefined);
    });
    await expect(late).rejects.toBeInstanceOf(StoreUsageError);
    expect(await store.read(async (tx) => (await tx.settings.list()).length)).toBe(1);
  });

  test("stays one transaction: nobody else sees its middle", async () => {
    const writing = store.transaction(async (tx) => {
      await tx.settings.set("a", 1, 1);
      await statementsBeforeTurn(() => tx.settings.get("a"));
      await tx.settings.set("b", 2, 1);
    });
    const seen = store.read(async (tx) => (await tx.settings.list()).map(({ key }) => key));
    await writing;
    expect(await seen).toEqual(["a", "b"]);
  });
});
