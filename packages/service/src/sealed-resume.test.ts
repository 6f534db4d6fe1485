import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectRawSqlite } from "@sallyport/store/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Fixture,
  adminOf,
  ask,
  callerOf,
  logFaults,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const ONE = receive("https://unknown.example.com/one");
const TWO = receive("https://unknown.example.com/two");

let folder: string;
let fixture: Fixture;
let runs: unknown[];
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-sealed-")));
  runs = [];
  await open();
});
afterEach(async () => {
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(): Promise<void> {
  fixture = await openFixture({ folder });
  fixture.actions.register({
    name: "demo.resume",
    module: "demo",
    handler: (context) => void runs.push(context),
  });
}

async function required(what: typeof ONE, resumeContext: unknown): Promise<string> {
  const words = { ...ask(what), resumeAction: "demo.resume", resumeContext };
  return (await fixture.service.require(callerOf(), words)).requestId ?? "";
}

type Blobs = Map<string, Buffer>;

/** Somebody with the file in hand: the service is stopped, the blobs are changed, the service goes on. */
async function tampered(change: (blobs: Blobs) => void): Promise<void> {
  await fixture.close();
  const file = connectRawSqlite(join(folder, "store.db"));
  const { rows } = file.run("select request_id, sealed_context from continuation");
  const blobs: Blobs = new Map(
    rows.map((row) => [String(row["request_id"]), Buffer.from(row["sealed_context"] as Uint8Array)]),
  );
  change(blobs);
  for (const [id, blob] of blobs)
    file.run("update continuation set sealed_context = ? where request_id = ?", [new Uint8Array(blob), id]);
  file.close();
  await open();
}

async function approveAndRun(ids: readonly string[]) {
  const { service } = fixture;
  for (const id of ids) await service.approvePermanently(adminOf(), await shown(service, id));
  await service.executor.runDue();
  const { rows } = await service.list.jobs(adminOf());
  return rows.filter(({ requestId }) => ids.includes(requestId));
}

const held = (blobs: Blobs, id: string): Buffer => blobs.get(id) ?? Buffer.alloc(0);

const parked = { state: "parked", lastError: expect.stringMatching(/damaged|another version|never had/) };

describe("sealed contexts in a store that somebody changed", () => {
  it("run with their own context where nothing was changed", async () => {
    const id = await required(ONE, { page: 1 });
    await tampered(() => undefined);
    expect(await approveAndRun([id])).toMatchObject([{ state: "done" }]);
    expect(runs).toEqual([{ page: 1 }]);
  });

  it("attack: two that were swapped are parked, both, and neither is handed over", async () => {
    const ids = [await required(ONE, { page: 1 }), await required(TWO, { page: 2 })];
    await tampered((blobs) => {
      const [first = "", second = ""] = ids;
      const kept = held(blobs, first);
      blobs.set(first, held(blobs, second)).set(second, kept);
    });
    expect(await approveAndRun(ids)).toMatchObject([parked, parked]);
    expect(runs).toEqual([]);
  });

  it("attack: one that is replayed from an older request of the same tuple is parked", async () => {
    const old = await required(ONE, { page: "old" });
    await fixture.service.deny(adminOf(), await shown(fixture.service, old));
    const { rows } = await fixture.service.list.denials(adminOf());
    await fixture.service.revokeDenial(adminOf(), { id: rows[0]?.id ?? "" });
    const id = await required(ONE, { page: "new" });
    expect(id).not.toBe(old);
    await tampered((blobs) => void blobs.set(id, held(blobs, old)));
    expect(await approveAndRun([id])).toMatchObject([parked]);
    expect(runs).toEqual([]);
  });

  it("attack: one that was cut short anywhere is parked", async () => {
    const ids: string[] = [];
    for (let page = 0; page < 4; page++)
      ids.push(await required(receive(`https://unknown.example.com/${page}`), { page }));
    await tampered((blobs) => {
      for (const [index, id] of ids.entries()) {
        const blob = held(blobs, id);
        blobs.set(id, blob.subarray(0, [0, 10, 44, blob.length - 1][index]));
      }
    });
    expect(await approveAndRun(ids)).toMatchObject([parked, parked, parked, parked]);
    expect(runs).toEqual([]);
  });

  it("attack: one with a flipped bit in any of its parts is parked", async () => {
    const ids: string[] = [];
    for (let page = 0; page < 4; page++)
      ids.push(await required(receive(`https://unknown.example.com/${page}`), { page }));
    await tampered((blobs) => {
      for (const [index, id] of ids.entries()) {
        const blob = Buffer.from(held(blobs, id));
        const at = [0, 20, 35, blob.length - 1][index] ?? 0;
        blob[at] = (blob[at] ?? 0) ^ 1;
        blobs.set(id, blob);
      }
    });
    expect(await approveAndRun(ids)).toMatchObject([parked, parked, parked, parked]);
    expect(runs).toEqual([]);
  });
});
