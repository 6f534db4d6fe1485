import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { StoreOwnedError } from "../errors.ts";
import { type Child, type Program, bundle, startChild } from "../testing/child-program.ts";
import type { OwnerAnswer, OwnerMessage } from "../testing/owner-program.ts";
import { openSqliteStore } from "./open-sqlite-store.ts";

let program: Program;
let folder: string;
let path: string;
let children: Child[];

beforeAll(() => {
  program = bundle(fileURLToPath(new URL("../testing/owner-program.ts", import.meta.url)));
});
afterAll(() => program.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sp-owner-"));
  path = join(folder, "store.db");
  children = [];
});
afterEach(async () => {
  for (const started of children) await started.kill();
  rmSync(folder, { recursive: true, force: true });
});

function child(): Child & { tell(message: OwnerMessage): Promise<OwnerAnswer> } {
  const started = startChild(program, [path]);
  children.push(started);
  return { ...started, tell: (message) => started.ask<OwnerAnswer>(message) };
}

describe("the owner of a SQLite store", () => {
  test("a second process is refused with who owns the store, and harms nothing", async () => {
    const owner = child();
    expect(await owner.tell({ do: "open" })).toEqual({ ok: true });
    await owner.tell({ do: "insert", key: "a", bytes: 1 });
    const second = openSqliteStore({ path });
    await expect(second).rejects.toBeInstanceOf(StoreOwnedError);
    await expect(second).rejects.toMatchObject({ owner: { pid: owner.process.pid, version: "test" } });
    await expect(second).rejects.toThrow(`process ${owner.process.pid}`);
    const third = await child().tell({ do: "open" });
    expect(third).toMatchObject({
      ok: false,
      error: { name: "StoreOwnedError", owner: { pid: owner.process.pid } },
    });
    expect(await owner.tell({ do: "insert", key: "b", bytes: 1 })).toEqual({ ok: true });
    expect(await owner.tell({ do: "keys" })).toEqual({ ok: true, keys: ["a", "b"] });
  });

  test("a second opener in the same process is refused as well, and the first keeps its lock", async () => {
    const store = await openSqliteStore({ path, version: "first" });
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      owner: { pid: process.pid, version: "first" },
    });
    expect(await child().tell({ do: "open" })).toMatchObject({ error: { name: "StoreOwnedError" } });
    await store.close();
  });

  test("after the owner was killed the next one takes over at once, with all that was acknowledged", async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 8; round += 1) {
      const owner = child();
      expect(await owner.tell({ do: "open" })).toEqual({ ok: true });
      for (let at = 0; at < 5; at += 1) {
        const key = `${round}-${at}`;
        expect(await owner.tell({ do: "insert", key, bytes: 5000 })).toEqual({ ok: true });
        acknowledged.push(key);
      }
      // One more is under way when the end comes; it may be there or not.
      const last = owner.tell({ do: "insert", key: `${round}-under-way`, bytes: 5000 }).catch(() => null);
      await owner.kill();
      await last;
    }
    const store = await openSqliteStore({ path });
    const keys = (await store.read((tx) => tx.settings.list())).map(({ key }) => key);
    expect(keys.filter((key) => !key.endsWith("under-way"))).toEqual(acknowledged);
    await store.close();
  });

  test("many that open a new store at the same time: one owns it, the others are told", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => child().tell({ do: "open" })));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    for (const { ok, error } of answers) if (!ok) expect(error?.name).toBe("StoreOwnedError");
  });

  test("who waits gets the store when the owner closes it", async () => {
    const owner = child();
    await owner.tell({ do: "open" });
    const waiting = openSqliteStore({ path, ownerWaitMs: 60_000 });
    await owner.tell({ do: "close" });
    await (await waiting).close();
  });

  test("an owner record that is stale, broken or missing decides nothing", async () => {
    for (const record of ["", "{", '{"pid":1,"host":"elsewhere","version":"9","since_ms":1}', "[]"]) {
      writeFileSync(`${path}.owner`, record);
      const store = await openSqliteStore({ path });
      expect(JSON.parse(readFileSync(`${path}.owner`, "utf8"))).toMatchObject({ pid: process.pid });
      writeFileSync(`${path}.owner`, "{");
      await expect(openSqliteStore({ path })).rejects.toMatchObject({ owner: null });
      await store.close();
    }
  });

  test("only the user of the owner may read the store", async () => {
    const store = await openSqliteStore({ path });
    await store.transaction((tx) => tx.settings.set("a", 1, 1));
    for (const file of [path, `${path}-wal`, `${path}.owner`]) expect(statSync(file).mode & 0o077).toBe(0);
    await store.close();
  });
});

describe("a disk that is full", () => {
  test("nothing is acknowledged that is not there, and the store goes on when there is space again", async () => {
    const owner = child();
    await owner.tell({ do: "open" });
    await owner.tell({ do: "insert", key: "before", bytes: 10 });
    const limit = (bytes: string) =>
      execFileSync("env", ["prlimit", `--pid=${owner.process.pid}`, `--fsize=${bytes}:`]);
    limit(String(statSync(`${path}-wal`).size + 20_000));
    const acknowledged = ["before"];
    let refused: OwnerAnswer | null = null;
    for (let at = 0; at < 20 && refused === null; at += 1) {
      const answer = await owner.tell({ do: "insert", key: `during-${at}`, bytes: 5000 });
      if (answer.ok) acknowledged.push(`during-${at}`);
      else refused = answer;
    }
    expect(refused?.error?.name).toBe("StoreUnavailableError");
    expect(["SQLITE_FULL", "SQLITE_IOERR"]).toContain(refused?.error?.driverCode);
    expect(refused?.error?.message).toMatch(/disk/);
    const keys = async () => (await owner.tell({ do: "keys" })).keys?.toSorted();
    expect(await keys()).toEqual(acknowledged.toSorted());
    limit("unlimited");
    expect(await owner.tell({ do: "insert", key: "z-after", bytes: 5000 })).toEqual({ ok: true });
    expect(await keys()).toEqual([...acknowledged, "z-after"].toSorted());
  });
});
