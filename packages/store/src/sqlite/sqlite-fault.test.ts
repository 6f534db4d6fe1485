import {
  chmodSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StoreUnavailableError, StoreUsageError } from "../errors.ts";
import { newRequest } from "../testing/sample-rows.ts";
import { connect } from "./driver.ts";
import { openSqliteStore } from "./open-sqlite-store.ts";
import { openSqliteEngine } from "./sqlite-engine.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sp-fault-"));
  path = join(folder, "store.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function fault(promise: Promise<unknown>): Promise<StoreUnavailableError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreUnavailableError);
  const { message } = error as StoreUnavailableError;
  expect(message).toMatch(/^[a-zS].*: .*[^.]$/);
  expect(message).not.toMatch(/SQLITE|sqlite_|table|database disk image/);
  return error as StoreUnavailableError;
}

describe("a SQLite store that cannot be used", () => {
  test("a folder that does not exist is said so", async () => {
    const error = await fault(openSqliteStore({ path: join(folder, "missing", "store.db") }));
    expect(error.message).toMatch(/folder/);
  });

  test("a file that is something else is not touched", async () => {
    writeFileSync(path, "this is a letter, not a store; ".repeat(200));
    const before = readFileSync(path);
    expect((await fault(openSqliteStore({ path }))).driverCode).toBe("SQLITE_NOTADB");
    expect(readFileSync(path)).toEqual(before);
  });

  test("a damaged file is found out when it is read, and the process goes on", async () => {
    const store = await openSqliteStore({ path });
    await store.transaction(async (tx) => {
      for (let at = 0; at < 200; at += 1)
        await tx.requests.insert(newRequest(`r-${at}`, { target: `/${at}` }));
    });
    await store.close();
    const file = openSync(path, "r+");
    for (let at = 8192; at < statSync(path).size; at += 4096)
      writeSync(file, Buffer.alloc(512, 0xff), 0, 512, at);
    const damaged = (async () => {
      const again = await openSqliteStore({ path });
      try {
        await again.read((tx) => tx.requests.list({}, { limit: 1000 }));
      } finally {
        await again.close();
      }
    })();
    const error = await fault(damaged);
    expect(error.driverCode).toBe("SQLITE_CORRUPT");
    expect(error.message).toMatch(/restore a backup/);
  });

  test("a database that another program locks is refused without stopping the event loop", async () => {
    await (await openSqliteStore({ path })).close();
    const reader = connect(path);
    reader.run("begin");
    reader.run("select * from setting");
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 5);
    await expect(openSqliteStore({ path, ownerWaitMs: 200 })).rejects.toMatchObject({ code: "store_owned" });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    reader.run("rollback");
    reader.close();
    await (await openSqliteStore({ path })).close();
  });

  test("a transaction that does not end makes others unavailable instead of waiting for ever", async () => {
    const store = await openSqliteStore({ path, waitMs: 20 });
    let release = (): void => {};
    const stuck = store.transaction(async (tx) => {
      await tx.settings.set("a", 1, 1);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    expect((await fault(store.read((tx) => tx.settings.list()))).message).toMatch(/busy/);
    release();
    await stuck;
    expect(await store.read((tx) => tx.settings.list())).toHaveLength(1);
    await store.close();
  });
});

describe("backup", () => {
  test("a backup is a whole store of its own, taken while the store is in use", async () => {
    const store = await openSqliteStore({ path });
    await store.transaction(async (tx) => {
      await tx.requests.insert(newRequest("r-1"));
      await tx.revisions.append({ body: null, createdMs: 1 });
    });
    const copy = join(folder, "backup.db");
    await Promise.all([store.backupTo(copy), store.transaction((tx) => tx.settings.set("during", true, 1))]);
    expect(statSync(copy).mode & 0o077).toBe(0);
    await store.transaction((tx) => tx.settings.set("after", true, 1));
    await store.close();
    const restored = await openSqliteStore({ path: copy });
    await restored.read(async (tx) => {
      expect((await tx.requests.get("r-1"))?.status).toBe("pending");
      expect(await tx.revisions.current()).toBe(1);
      expect(await tx.settings.get("after")).toBeNull();
    });
    await restored.close();
  });

  test("a backup never overwrites, and leaves nothing behind where it fails", async () => {
    const store = await openSqliteStore({ path });
    const copy = join(folder, "backup.db");
    writeFileSync(copy, "precious");
    await expect(store.backupTo(copy)).rejects.toBeInstanceOf(StoreUsageError);
    expect(readFileSync(copy, "utf8")).toBe("precious");
    await fault(store.backupTo(join(folder, "missing", "backup.db")));
    expect(await store.read((tx) => tx.settings.list())).toEqual([]);
    await store.close();
    expect(existsSync(join(folder, "missing"))).toBe(false);
    expect(readdirSync(folder).toSorted()).toEqual(["backup.db", "store.db"]);
  });
});

describe("the settings of SQLite", () => {
  test("every commit is synced, foreign keys hold, and the file is locked", async () => {
    const engine = await openSqliteEngine(path, { ownerWaitMs: 0, waitMs: 100, version: "test" });
    const session = await engine.begin("write");
    const ask = async (pragma: string) =>
      Object.values((await session.execute(`pragma ${pragma}`, [])).rows[0] ?? {})[0];
    expect(await ask("journal_mode")).toBe("wal");
    expect(await ask("synchronous")).toBe(2);
    expect(await ask("locking_mode")).toBe("exclusive");
    expect(await ask("foreign_keys")).toBe(1);
    await session.rollback();
    await engine.close();
  });

  test("a read-only file is said so", async () => {
    await (await openSqliteStore({ path })).close();
    const user = process.getuid?.();
    chmodSync(path, 0o444);
    if (user === 0) process.seteuid?.(65534);
    try {
      chmodSyncAsRoot(folder, user);
      const error = await fault(openSqliteStore({ path }));
      expect(error.message).toMatch(/read-only|cannot be opened|right to write/);
    } finally {
      if (user === 0) process.seteuid?.(0);
    }
  });
});

/** As root the test acts as nobody, who must at least be able to enter the folder. */
function chmodSyncAsRoot(place: string, user: number | undefined): void {
  if (user !== 0) return;
  process.seteuid?.(0);
  chmodSync(place, 0o755);
  process.seteuid?.(65534);
}
