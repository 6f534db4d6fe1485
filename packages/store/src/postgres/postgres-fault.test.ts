import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import pg from "pg";
import { StoreUnavailableError } from "../errors.ts";
import type { AccessStore } from "../port.ts";
import { type PostgresServer, startPostgres } from "../testing/postgres-server.ts";
import { newRequest } from "../testing/sample-rows.ts";
import { openPostgresEngine } from "./postgres-engine.ts";
import { openPostgresStore, type PostgresStoreOptions } from "./open-postgres-store.ts";

let server: PostgresServer;
let url: string;
let open: AccessStore[];
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.makeDatabase();
  open = [];
});
afterEach(async () => {
  for (const store of open) await store.close();
});

async function openStore(options: Partial<PostgresStoreOptions> = {}): Promise<AccessStore> {
  const store = await openPostgresStore({ url, ...options });
  open.push(store);
  return store;
}

async function fault(promise: Promise<unknown>): Promise<StoreUnavailableError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreUnavailableError);
  const { message } = error as StoreUnavailableError;
  expect(message).toMatch(/^[a-z].*: .*[^.]$/);
  expect(message).not.toMatch(/ECONN|terminating|relation|socket|sp_/);
  return error as StoreUnavailableError;
}

/** Keeps asking until the store answers again: recovery is a state, not a time. */
async function recovered(store: AccessStore): Promise<void> {
  for (;;) {
    try {
      await store.read((tx) => tx.revisions.current());
      return;
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailableError);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describe("a PostgreSQL store that cannot be used", () => {
  test("a server that is not there is said so", async () => {
    const error = await fault(openPostgresStore({ url: "postgres://nobody@127.0.0.1:1/none" }));
    expect(error.message).toMatch(/cannot be reached/);
  });

  test("a database that does not exist is said so", async () => {
    const missing = new URL(url);
    missing.pathname = "/missing";
    expect((await fault(openPostgresStore({ url: missing.href }))).message).toMatch(/does not exist/);
  });

  test("a server that accepts and never answers is given up after a bounded wait", async () => {
    const sockets: Socket[] = [];
    const silent: Server = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => {
      silent.listen(0, "127.0.0.1", resolve);
    });
    const { port } = silent.address() as AddressInfo;
    await fault(
      openPostgresStore({ url: `postgres://nobody@127.0.0.1:${port}/none`, connectTimeoutMs: 100 }),
    );
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test("connections that are cut fail their transactions whole, and the store goes on by itself", async () => {
    const store = await openStore();
    const cut = store.transaction(async (tx) => {
      await tx.requests.insert(newRequest("r-1"));
      await server.cutConnections(url);
      await tx.requests.insert(newRequest("r-2", { target: "/2" }));
    });
    expect((await fault(cut)).applied).toBe("no");
    await recovered(store);
    expect(await store.read((tx) => tx.requests.count({}))).toBe(0);
    await store.transaction((tx) => tx.requests.insert(newRequest("r-1")));
    expect(await store.read((tx) => tx.requests.count({}))).toBe(1);
  });

  test("a connection that is cut before the commit leaves its outcome open, and says so", async () => {
    const store = await openStore();
    const cut = store.transaction(async (tx) => {
      await tx.requests.insert(newRequest("r-1"));
      await server.cutConnections(url);
    });
    expect((await fault(cut)).applied).toBe("unknown");
    await recovered(store);
  });

  test("a server that is restarted in mid-transaction: unavailable, nothing half done, then all is well", async () => {
    const store = await openStore();
    await store.transaction((tx) => tx.requests.insert(newRequest("before", { target: "/before" })));
    const cut = store.transaction(async (tx) => {
      await tx.requests.insert(newRequest("during"));
      await server.restart();
      await tx.requests.touchPending("during", 5);
    });
    await fault(cut);
    await recovered(store);
    expect((await store.read((tx) => tx.requests.list({}, { limit: 9 }))).rows.map(({ id }) => id)).toEqual([
      "before",
    ]);
  });

  test("a statement that waits too long is ended", async () => {
    const store = await openStore({ statementTimeoutMs: 2000 });
    await store.transaction((tx) => tx.requests.insert(newRequest("r-1")));
    const blocker = new pg.Client({ connectionString: url });
    await blocker.connect();
    await blocker.query("begin");
    await blocker.query("select * from request for update");
    const error = await fault(store.transaction((tx) => tx.requests.touchPending("r-1", 2)));
    expect(error).toMatchObject({ driverCode: "57014", applied: "no" });
    await blocker.query("rollback");
    expect(await store.transaction((tx) => tx.requests.touchPending("r-1", 2))).toBe(2);
    await blocker.end();
  });

  test("with every connection taken others are told after a bounded wait", async () => {
    // WHY not shorter: it is also how long the store itself may take to connect.
    const store = await openStore({ connectionsMax: 1, connectTimeoutMs: 3000 });
    let release = (): void => {};
    let holding: Promise<void> | undefined;
    await new Promise<void>((begun, failed) => {
      holding = store.transaction(
        () =>
          new Promise<void>((resolve) => {
            release = resolve;
            begun();
          }),
      );
      holding.catch(failed);
    });
    await fault(store.read((tx) => tx.revisions.current()));
    release();
    await holding;
    await recovered(store);
  });

  test("a commit is durable before it is acknowledged, whatever the database's settings are", async () => {
    const role = new pg.Client({ connectionString: url });
    await role.connect();
    await role.query(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`);
    await role.end();
    const engine = openPostgresEngine({
      url,
      connectionsMax: 1,
      connectTimeoutMs: 5000,
      statementTimeoutMs: 5000,
    });
    const session = await engine.begin("write");
    expect((await session.execute("show synchronous_commit", [])).rows).toEqual([
      { synchronous_commit: "on" },
    ]);
    await session.rollback();
    await engine.close();
  });
});

describe("hearing of revisions", () => {
  const next = (store: AccessStore, least: number) =>
    new Promise<number>((resolve) => {
      const stop = store.onRevision((revision) => {
        if (revision < least) return;
        stop();
        resolve(revision);
      });
    });

  test("a notification arrives without polling", async () => {
    const listening = await openStore({ pollMs: 3_600_000 });
    const writing = await openStore();
    const heard = next(listening, 1);
    await writing.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }));
    expect(await heard).toBe(1);
  });

  test("polling finds what no notification told", async () => {
    const listening = await openStore({ pollMs: 20 });
    const silent = new pg.Client({ connectionString: url });
    await silent.connect();
    const heard = next(listening, 5);
    await silent.query("update counter set value = 5 where name = 'revision'");
    expect(await heard).toBe(5);
    await silent.end();
  });

  test("a listener whose connection was cut comes back and catches up", async () => {
    const listening = await openStore({ pollMs: 3_600_000 });
    const writing = await openStore();
    const heard = next(listening, 1);
    await server.cutConnections(url);
    await recovered(writing);
    await writing.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }));
    expect(await heard).toBe(1);
    const again = next(listening, 2);
    await writing.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }));
    expect(await again).toBe(2);
  });
});
