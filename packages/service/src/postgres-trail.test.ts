/** The log of two nodes on one PostgreSQL server: followed, verified across chains, signed and shortened beside each other. */
import { createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "@sallyport/store/testing";
import { openPostgresStore } from "@sallyport/store/postgres";
import type { AccessStore, EventRow } from "@sallyport/store";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import { checkpointFile } from "./audit/checkpoint-sink.ts";
import { checkpointKeys, generateCheckpointSigner } from "./audit/checkpoint.ts";
import { hashRow, linksTo } from "./audit/event-chain.ts";
import { bytesOfHex, chainRow, storedRows } from "./audit/stored-chain.ts";
import { verifyLog } from "./audit/verify-log.ts";
import type { FollowCursor, Followed } from "./follow-events.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  openFixture,
  read,
} from "./testing/service-fixture.ts";

const signers = { a: generateCheckpointSigner(), b: generateCheckpointSigner() };
const publicKeys = Object.values(signers).map(({ privateKey }) => createPublicKey(privateKey));
const keys = checkpointKeys(publicKeys);
const NODES = ["node-a", "node-b"] as const;

let server: PostgresServer;
let url: string;
let outside: string;
let fixture: Fixture;
let storeB: AccessStore;
let a: AccessService;
let b: AccessService;
const extra: AccessStore[] = [];
let filled = 0;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

beforeEach(async () => {
  url = await server.makeDatabase();
  outside = mkdtempSync(join(tmpdir(), "sallyport-outside-"));
  storeB = await openPostgresStore({ url });
  fixture = await openFixture({ opened: await openPostgresStore({ url }), checkpoints: signing("a") });
  a = fixture.service;
  // Node A has rows when B begins, so that the first row of B is linked to them.
  await fill(a, 3);
  b = new AccessService({
    ...fixture.options,
    store: storeB,
    nodeId: "node-b",
    checkpoints: signing("b"),
  });
  await b.start();
});
afterEach(async () => {
  await b.stop();
  for (const store of extra.splice(0)) await store.close();
  await fixture.close();
  await storeB.close();
  rmSync(outside, { recursive: true, force: true });
});

function signing(node: keyof typeof signers) {
  const exportTo = checkpointFile(join(outside, `${node}.jsonl`));
  return { signer: signers[node], publicKeys, exportTo, everyRows: 5 };
}

/** So many events, each of another target (repeats would be counted) and durable. */
async function fill(service: AccessService, count: number): Promise<void> {
  for (let at = 0; at < count; at++)
    await service.check(callerOf(READER, { mode: "never" }), ask(read(`/srv/fill/${filled++}`)));
}

const rowsOf = (node: string) =>
  fixture.store.read((tx) => tx.events.range(node, { from: 1, to: 1000, limit: 1000 }));

/** Takes until it has told all of these, or so many. */
async function take(events: AsyncGenerator<Followed>, count: number): Promise<readonly Followed[]> {
  const taken: Followed[] = [];
  while (taken.length < count) {
    const step = await events.next();
    if (step.done === true) break;
    taken.push(step.value);
  }
  return taken;
}

function seqsOf(told: readonly Followed[], node: string): readonly number[] {
  return told.flatMap((one) => (one.kind === "event" && one.event.node === node ? [one.event.seq] : []));
}

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, index) => index + 1);

describe("following two nodes", () => {
  it("tells every event of both once, while both write, over reconnects to either of them", async () => {
    const ROWS = 40;
    const writing = Promise.all([fill(a, ROWS - 3), fill(b, ROWS)]);
    const told: Followed[] = [];
    let cursor: FollowCursor | "start" = "start";
    for (let round = 0; told.length < ROWS * 2; round++) {
      const node = round % 2 === 0 ? a : b;
      const stop = new AbortController();
      const events = await node.trail.follow(adminOf(), {
        after: cursor,
        pageRows: 3,
        pollMs: 10,
        signal: stop.signal,
      });
      const taken = await take(events, Math.min(11, ROWS * 2 - told.length));
      // Cut off in the middle of a page.
      if (round % 3 === 0) stop.abort();
      await events.return(undefined);
      told.push(...taken);
      cursor = taken.at(-1)?.cursor ?? cursor;
    }
    await writing;
    for (const node of NODES) expect(seqsOf(told, node)).toEqual(upTo(ROWS));
    expect(told.every(({ kind }) => kind === "event")).toBe(true);
  });

  it("begins now where nothing else is said, and hears of the other node while its own is quiet", async () => {
    await fill(b, 2);
    const events = await a.trail.follow(adminOf(), { pollMs: 10, filter: { node: "node-b" } });
    // Node A writes nothing that could wake it.
    for (const seq of [3, 4, 5]) {
      const next = events.next();
      await fill(b, 1);
      expect(await next).toMatchObject({ value: { kind: "event", event: { node: "node-b", seq } } });
    }
    await events.return(undefined);
  });

  it("ends with a fault where the server goes, and goes on from its cursor without a gap", async () => {
    await fill(b, 4);
    const first = await a.trail.follow(adminOf(), { after: "start", pageRows: 2, pollMs: 10 });
    const told = [...(await take(first, 5))];
    let isCut = false;
    const rest = (async () => {
      for (;;) {
        const step = await first.next();
        if (step.done === true) return;
        told.push(step.value);
      }
    })().catch(() => {
      isCut = true;
    });
    await expect
      .poll(async () => {
        await server.cutConnections(url);
        return isCut;
      })
      .toBe(true);
    await rest;
    const cursor = told.at(-1)?.cursor;
    await expect.poll(() => a.live && b.live, { timeout: 30_000 }).toBe(true);
    await fill(b, 2);
    const second = await b.trail.follow(adminOf(), { after: cursor, pageRows: 2, pollMs: 10 });
    const lengths = await Promise.all(NODES.map(async (node) => (await rowsOf(node)).length));
    const all = lengths.reduce((sum, length) => sum + length, 0);
    told.push(...(await take(second, all - told.length)));
    await second.return(undefined);
    for (const [at, node] of NODES.entries()) expect(seqsOf(told, node)).toEqual(upTo(lengths[at] ?? 0));
  });
});

/** Both chains and the checkpoints of node B in another database, after somebody had their hands on node A's rows. */
async function tampered(change: (rows: readonly EventRow[]) => readonly EventRow[]): Promise<AccessStore> {
  const copy = await openPostgresStore({ url: await server.makeDatabase() });
  extra.push(copy);
  const [ofA, ofB] = [await rowsOf("node-a"), await rowsOf("node-b")];
  await copy.transaction(async (tx) => {
    await tx.events.append(change(ofA));
    await tx.events.append(ofB);
  });
  return copy;
}

/** Hashed anew from an index on, as somebody with the store but without the keys would. */
function rehashed(rows: readonly EventRow[], from: number): readonly EventRow[] {
  const made = [...rows];
  for (let at = from; at < made.length; at++) {
    const row = made[at] as EventRow;
    const prevHash = made[at - 1]?.hash ?? row.prevHash;
    const body = at === from ? row.body.replace("never", "bypass") : row.body;
    made[at] = { ...row, prevHash, body, hash: bytesOfHex(hashRow(chainRow({ ...row, prevHash, body }))) };
  }
  return made;
}

describe("verifying two nodes", () => {
  it("holds while both write and sign, and covers both chains", async () => {
    const writing = Promise.all([fill(a, 30), fill(b, 30)]);
    for (let round = 0; round < 4; round++)
      expect(await (round % 2 === 0 ? a : b).trail.verify(adminOf())).toMatchObject({ ok: true });
    await writing;
    for (const node of [a, b]) await node.trail.checkpoint(adminOf());
    expect(await b.trail.verify(adminOf())).toMatchObject({
      ok: true,
      chains: [
        { node: "node-a", rows: 33, vouchedSeq: 33 },
        { node: "node-b", rows: 30, vouchedSeq: 30 },
      ],
    });
  });

  it("finds by the rows of the other node what was rewritten or cut, without any checkpoint", async () => {
    await fill(b, 2);
    const links = [];
    for await (const link of linksTo("node-a", storedRows(fixture.store, "node-b", { from: 1 })))
      links.push(link);
    expect(links).toMatchObject([{ node: "node-a", seq: 3 }]);
    expect(await verifyLog(await tampered((rows) => rows), { keys: new Map() })).toMatchObject({ ok: true });
    const rewritten = await verifyLog(await tampered((rows) => rehashed(rows, 1)), { keys: new Map() });
    expect(rewritten).toMatchObject({ ok: false, node: "node-a", seq: 3 });
    const cut = await verifyLog(await tampered((rows) => rows.slice(0, 2)), { keys: new Map() });
    expect(cut).toMatchObject({ ok: false, node: "node-a", reason: "cut", seq: 3 });
  });

  it("finds by the exported checkpoint of the other node what was cut", async () => {
    await fill(b, 1);
    await fill(a, 4);
    await b.trail.checkpoint(adminOf());
    const exported = () => checkpointFile(join(outside, "b.jsonl")).lines?.() ?? [];
    const whole = await tampered((rows) => rows);
    expect(await verifyLog(whole, { keys, exported })).toMatchObject({ ok: true });
    const cut = await tampered((rows) => rows.slice(0, 6));
    // The row of B is linked to row 3 only; the checkpoint saw row 7.
    expect(await verifyLog(cut, { keys: new Map() })).toMatchObject({ ok: true });
    expect(await verifyLog(cut, { keys, exported })).toMatchObject({ ok: false, node: "node-a", seq: 7 });
  });
});

describe("retention on one node", () => {
  it("goes beside a live one that writes and signs, and both chains verify", async () => {
    await fill(a, 20);
    const writing = fill(b, 30);
    const answer = await a.trail.retain(adminOf(), { keepRows: 5, reason: "kept long enough" });
    expect(answer).toMatchObject({ ok: true, node: "node-a", removed: 18, firstSeq: 19 });
    await writing;
    await b.trail.checkpoint(adminOf());
    await fill(a, 3);
    for (const node of [a, b]) expect(await node.trail.verify(adminOf())).toMatchObject({ ok: true });
    expect((await rowsOf("node-b")).length).toBe(30);
    const again = await b.trail.retain(adminOf(), { keepRows: 4 });
    expect(again).toMatchObject({ ok: true, node: "node-b", removed: 26 });
    for (const node of [a, b]) expect(await node.trail.verify(adminOf())).toMatchObject({ ok: true });
    const exported = () => checkpointFile(join(outside, "a.jsonl")).lines?.() ?? [];
    expect(await verifyLog(fixture.store, { keys, exported })).toMatchObject({ ok: true });
  });

  it("leaves the chain of a live node alone, and takes that of one that is gone", async () => {
    await fill(b, 10);
    const words = { node: "node-b", keepRows: 2 };
    expect(await a.trail.retain(adminOf(), words)).toMatchObject({ ok: false, code: "node_live" });
    expect((await rowsOf("node-b")).length).toBe(10);
    await b.stop();
    expect(await a.trail.retain(adminOf(), words)).toMatchObject({ ok: true, removed: 8, firstSeq: 9 });
    expect(await a.trail.verify(adminOf())).toMatchObject({ ok: true });
    await expect.poll(async () => (await rowsOf("node-b")).map(({ seq }) => seq)).toEqual([9, 10]);
  });

  it("is told to who follows from the other node", async () => {
    await fill(a, 10);
    await a.trail.retain(adminOf(), { keepRows: 4 });
    const after = [
      { node: "node-a", seq: 2 },
      { node: "node-b", seq: 0 },
    ];
    const events = await b.trail.follow(adminOf(), { after, pollMs: 10 });
    expect(await events.next()).toMatchObject({ value: { kind: "removed", node: "node-a", fromSeq: 3 } });
    expect(await events.next()).toMatchObject({ value: { kind: "event", event: { node: "node-a" } } });
    await events.return(undefined);
  });
});
