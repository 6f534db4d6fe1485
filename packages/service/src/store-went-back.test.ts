/** A node whose store is another one from one read to the next, as after the loss of a primary: a copy that is behind it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccessStore } from "@sallyport/store";
import { openSqliteStore } from "@sallyport/store/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LiveSnapshot } from "./live-snapshot.ts";
import { systemClock } from "./node-clock.ts";
import { parseUrl, seed } from "./testing/service-fixture.ts";

let folder: string;
let primary: AccessStore;
let standby: AccessStore;
let current: AccessStore;
let live: LiveSnapshot;
let faults: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-back-"));
  primary = await openSqliteStore({ path: join(folder, "primary.db") });
  standby = await openSqliteStore({ path: join(folder, "standby.db") });
  current = primary;
  faults = [];
  const store: AccessStore = {
    engine: primary.engine,
    read: (work) => current.read(work),
    transaction: (work) => current.transaction(work),
    onRevision: () => () => undefined,
    close: () => Promise.resolve(),
  };
  live = new LiveSnapshot({
    store,
    nodeId: "node-a",
    clock: systemClock,
    seed,
    parseUrl,
    confirmable: (revision) => revision,
    hostFacts: [],
    faulted: (error) => faults.push((error as Error).message),
    beatMs: 600_000,
  });
});
afterEach(async () => {
  await live.stop();
  await primary.close();
  await standby.close();
  rmSync(folder, { recursive: true });
});

const change = (store: AccessStore, id: string): Promise<number> =>
  store.transaction((tx) => tx.revisions.append({ body: [{ kind: "approval", id }], createdMs: 1 }));

const trim = (store: AccessStore): Promise<unknown> =>
  store.transaction(async (tx) => tx.revisions.trim(await tx.revisions.current()));

it("goes on with a copy that has everything it had, also where that copy kept no log", async () => {
  for (const store of [primary, standby]) await change(store, "one");
  await live.start();
  await trim(standby);
  current = standby;
  await live.catchUp();
  await change(standby, "two");
  await live.catchUp();
  expect([live.live, live.revision, faults]).toEqual([true, 2, []]);
});

describe("attack: a copy that lacks what was revoked", () => {
  it.each(["with its log", "without a log"])("is not taken over by a node that runs, %s", async (log) => {
    for (const id of ["one", "revoked"]) await change(primary, id);
    await change(standby, "one");
    await live.start();
    if (log === "without a log") await trim(standby);
    current = standby;
    await expect(live.catchUp()).rejects.toThrow(/went back from revision 2 to 1, .* start this node anew/);
    expect(live.live).toBe(false);
    await change(standby, "two");
    await change(standby, "three");
    await expect(live.catchUp()).rejects.toThrow(/went back/);
    expect([live.live, faults.length]).toEqual([false, 1]);
  });

  it.each([
    ["reached the same revision", 2],
    ["is ahead", 4],
  ])("is told from the store of before where it has changed since and %s", async (_, revision) => {
    for (const id of ["one", "revoked"]) await change(primary, id);
    await live.start();
    for (let at = 1; at <= revision; at++) await change(standby, at === 1 ? "one" : `other ${at}`);
    current = standby;
    await expect(live.catchUp()).rejects.toThrow(/has another change at revision 2/);
    expect([live.live, faults.length]).toEqual([false, 1]);
  });
});
