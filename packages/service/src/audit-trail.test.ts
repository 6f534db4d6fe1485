/** The log of a running service: signed, verified from outside, shortened, followed, exported. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { AccessStore, EventRow } from "@sallyport/store";
import { openSqliteStore } from "@sallyport/store/sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { checkpointFile } from "./audit/checkpoint-sink.ts";
import { checkpointKeys, generateCheckpointSigner, signerOf } from "./audit/checkpoint.ts";
import { hashRow } from "./audit/event-chain.ts";
import { verifyExport } from "./audit/export-events.ts";
import { bytesOfHex, chainRow } from "./audit/stored-chain.ts";
import { verifyLog } from "./audit/verify-log.ts";
import { createPublicKey } from "node:crypto";
import type { Followed } from "./follow-events.ts";
import { FaultyStore } from "./testing/faulty-store.ts";
import {
  type Fixture,
  READER,
  TestClock,
  adminOf,
  ask,
  callerOf,
  eventsOf,
  openFixture,
  read,
  receive,
} from "./testing/service-fixture.ts";

const signer = generateCheckpointSigner();
const keys = checkpointKeys([createPublicKey(signer.privateKey)]);
const DECLARED = receive("https://declared.example.com/a");

let fixture: Fixture;
let outside: string;
const extra: AccessStore[] = [];
afterEach(async () => {
  for (const store of extra.splice(0)) await store.close();
  await fixture.close();
  rmSync(outside, { recursive: true, force: true });
});

async function open(changes: Parameters<typeof openFixture>[0] = {}): Promise<Fixture["service"]> {
  outside = mkdtempSync(join(tmpdir(), "sallyport-outside-"));
  const exportTo = checkpointFile(join(outside, "checkpoints.jsonl"));
  fixture = await openFixture({ checkpoints: { signer, exportTo, everyRows: 10 }, ...changes });
  return fixture.service;
}

const exported = () => readFileSync(join(outside, "checkpoints.jsonl"), "utf8").split("\n").slice(0, -1);

let filled = 0;

/** So many events, each of another target (repeats would be counted) and durable. */
async function fill(count: number): Promise<void> {
  for (let at = 0; at < count; at++)
    await fixture.service.check(callerOf(READER, { mode: "never" }), ask(read(`/srv/fill/${filled++}`)));
}

/** The same log in another store, after somebody had their hands on it. */
async function tampered(change: (rows: readonly EventRow[]) => readonly EventRow[]): Promise<AccessStore> {
  const { store, folder } = fixture;
  const copy = await openSqliteStore({ path: join(folder, `copy-${extra.length}.db`) });
  extra.push(copy);
  const rows = await store.read((tx) => tx.events.range("node-a", { from: 1, to: 1000, limit: 1000 }));
  // Whoever can write the store takes its checkpoints away as well.
  await copy.transaction((tx) => tx.events.append(change(rows)));
  return copy;
}

/** Hashed anew from an index on, as somebody with the store but without the key would. */
function rehashed(rows: readonly EventRow[], from: number): EventRow[] {
  const made = [...rows];
  for (let at = from; at < made.length; at++) {
    const row = made[at] as EventRow;
    const prevHash = made[at - 1]?.hash ?? row.prevHash;
    const body = at === from ? row.body.replace("never", "bypass") : row.body;
    made[at] = { ...row, prevHash, body, hash: bytesOfHex(hashRow(chainRow({ ...row, prevHash, body }))) };
  }
  return made;
}

const evidence = { keys, exported };

describe("checkpoints", () => {
  it("are signed every so many rows and at the end, stored and exported, and the log verifies by them", async () => {
    const service = await open();
    await fill(25);
    await expect.poll(() => exported().length).toBeGreaterThanOrEqual(2);
    // WHY not always one: the writer may have signed the last row by itself already.
    await service.trail.checkpoint(adminOf());
    expect(await service.trail.checkpoint(adminOf())).toBeNull();
    const report = await service.trail.verify(adminOf());
    expect(report).toMatchObject({ ok: true, chains: [{ node: "node-a", rows: 25, vouchedSeq: 25 }] });
    await fill(1);
    await service.stop();
    const last = JSON.parse(exported().at(-1) ?? "") as { readonly seq: number };
    expect(last.seq).toBeGreaterThanOrEqual(26);
  });

  it("outside the store find a cut end, a rewritten chain and a chain that is gone", async () => {
    const service = await open();
    await fill(20);
    await service.trail.checkpoint(adminOf());
    expect(await verifyLog(await tampered((rows) => rows), evidence)).toMatchObject({ ok: true });
    const cut = await tampered((rows) => rows.slice(0, 15));
    expect(await verifyLog(cut, evidence)).toMatchObject({ ok: false, reason: "cut", seq: 16 });
    const rewritten = await tampered((rows) => rehashed(rows, 3));
    expect(await verifyLog(rewritten, evidence)).toMatchObject({ ok: false, reason: "rewritten" });
    const gone = await tampered(() => []);
    expect(await verifyLog(gone, evidence)).toMatchObject({ ok: false, reason: "cut", seq: 1 });
    const deleted = await tampered((rows) => rows.toSpliced(4, 1));
    expect(await verifyLog(deleted, evidence)).toMatchObject({ ok: false, reason: "deleted", seq: 5 });
  });

  it("that were not acknowledged before a crash are taken back, and the next one is whole", async () => {
    outside = mkdtempSync(join(tmpdir(), "sallyport-outside-"));
    const path = join(outside, "checkpoints.jsonl");
    writeFileSync(path, '{"begin":');
    const service = await openedOn(path);
    await fill(3);
    await service.trail.checkpoint(adminOf());
    const [line = "", ...more] = exported();
    expect(JSON.parse(line)).toMatchObject({ node: "node-a", seq: 3 });
    expect(more).toEqual([]);
    expect(await service.trail.verify(adminOf())).toMatchObject({ ok: true, chains: [{ vouchedSeq: 3 }] });
  });

  it("that were acknowledged stay where a crash tore the line behind them", async () => {
    fixture = await openFixture();
    outside = mkdtempSync(join(tmpdir(), "sallyport-outside-"));
    const path = join(outside, "checkpoints.jsonl");
    const first = checkpointFile(path);
    await first.write('{"kept":1}');
    await first.close?.();
    appendFileSync(path, '{"torn":');
    const next = checkpointFile(path);
    await next.write('{"kept":2}');
    await next.close?.();
    expect(exported()).toEqual(['{"kept":1}', '{"kept":2}']);
  });

  it("that cannot be exported are told to the host and not stored, and the log goes on", async () => {
    const faults: unknown[] = [];
    const sink = { write: () => Promise.reject(new Error("the other machine is away")) };
    outside = mkdtempSync(join(tmpdir(), "sallyport-outside-"));
    fixture = await openFixture({
      checkpoints: { signer, exportTo: sink, everyRows: 2 },
      onFault: (error) => faults.push(error),
    });
    await fill(4);
    await expect.poll(() => faults.length).toBeGreaterThan(0);
    expect(await fixture.store.read((tx) => tx.checkpoints.latestOf("node-a"))).toBeNull();
    sink.write = (() => Promise.resolve()) as typeof sink.write;
  });
});

async function openedOn(path: string): Promise<Fixture["service"]> {
  fixture = await openFixture({ checkpoints: { signer, exportTo: checkpointFile(path) } });
  return fixture.service;
}

describe("retention", () => {
  it("removes what is old behind a signed checkpoint, and the rest verifies and goes on", async () => {
    const clock = new TestClock();
    const service = await open({ clock });
    await fill(12);
    clock.advance(60_000);
    await fill(8);
    const answer = await service.trail.retain(adminOf(), { olderThanMs: 30_000, reason: "kept long enough" });
    expect(answer).toMatchObject({ ok: true, removed: 12, firstSeq: 13 });
    expect(await service.trail.verify(adminOf())).toMatchObject({ ok: true });
    await fill(5);
    const again = await service.trail.retain(adminOf(), { keepRows: 4 });
    expect(again).toMatchObject({ ok: true });
    expect(await service.trail.verify(adminOf())).toMatchObject({ ok: true });
    const rows = await eventsOf(fixture);
    expect(rows.filter(({ code }) => code === "retain_events")).toHaveLength(1);
    expect(rows[0]?.seq).toBe((again as { readonly firstSeq: number }).firstSeq);
    expect(await verifyLog(fixture.store, { keys })).toMatchObject({ ok: true });
  });

  it("is refused without authority, and the attempt is on record", async () => {
    const service = await open();
    await fill(3);
    await expect(service.trail.retain(callerOf(), { keepRows: 1 })).rejects.toThrow(/may not/);
    const rows = await eventsOf(fixture);
    expect(rows.map(({ type }) => type)).toContain("policy.refused");
    expect(rows).toHaveLength(4);
  });

  it("refuses to tidy away what was tampered with, and words that make no sense", async () => {
    const service = await open();
    await fill(6);
    expect(await service.trail.retain(adminOf(), { keepRows: 0 })).toMatchObject({ code: "invalid_words" });
    const [row] = await fixture.store.read((tx) => tx.events.range("node-a", { from: 6, to: 6, limit: 1 }));
    await fixture.store.transaction((tx) => tx.events.append([{ ...(row as EventRow), seq: -3 }]));
    expect(await service.trail.retain(adminOf(), { keepRows: 2 })).toMatchObject({ code: "chain_fault" });
    expect(await service.trail.verify(adminOf())).toMatchObject({ ok: false, reason: "inserted", seq: 1 });
  });

  it("is found out where somebody removed rows behind an ordinary checkpoint or one that nobody signed", async () => {
    const service = await open();
    await fill(20);
    await service.trail.checkpoint(adminOf());
    await fixture.store.transaction(async (tx) => {
      expect(await tx.events.deleteBefore("node-a", 20)).toBeGreaterThan(0);
    });
    expect(await service.trail.verify(adminOf())).toMatchObject({ ok: false, reason: "deleted", seq: 1 });
    const forger = signerOf(generateCheckpointSigner().privateKey);
    const [first] = await fixture.store.read((tx) =>
      tx.events.range("node-a", { from: 1, to: 99, limit: 1 }),
    );
    const latest = await fixture.store.read((tx) => tx.checkpoints.latestOf("node-a"));
    await fixture.store.transaction((tx) =>
      tx.checkpoints.insert({
        ...(latest as NonNullable<typeof latest>),
        seq: 1,
        keyId: forger.keyId,
        beginSeq: (first?.seq ?? 1) - 1,
        beginHash: first?.prevHash ?? new Uint8Array(32),
      }),
    );
    expect(await service.trail.verify(adminOf())).toMatchObject({ ok: false });
  });
});

describe("following", () => {
  async function take(events: AsyncGenerator<Followed>, count: number): Promise<readonly Followed[]> {
    const taken: Followed[] = [];
    for (let at = 0; at < count; at++) {
      const step = await events.next();
      if (step.done === true) break;
      taken.push(step.value);
    }
    return taken;
  }
  const seqOf = (followed: Followed): number => (followed.kind === "event" ? followed.event.seq : -1);

  it("tells every event once, over reconnects and with a reader that is slower than the log", async () => {
    const service = await open();
    await fill(5);
    const first = await service.trail.follow(adminOf(), { after: "start", pageRows: 2 });
    const seen = [...(await take(first, 3))];
    await fill(4);
    await first.return(undefined);
    const second = await service.trail.follow(adminOf(), { after: seen.at(-1)?.cursor, pageRows: 2 });
    const waiting = take(second, 7);
    await fill(1);
    seen.push(...(await waiting));
    await second.return(undefined);
    expect(seen.map(seqOf)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("begins now, is narrowed like a search, ends with its signal and with the service", async () => {
    const service = await open();
    await fill(2);
    const stop = new AbortController();
    const filter = { code: "approval_required" };
    const events = await service.trail.follow(adminOf(), { filter, signal: stop.signal });
    const next = events.next();
    await fill(2);
    await service.check(callerOf(), ask(read("/srv/asked")));
    expect(await next).toMatchObject({
      value: { event: { code: "approval_required", target: "/srv/asked" } },
    });
    const after = events.next();
    stop.abort();
    expect(await after).toMatchObject({ done: true });
    const others = await service.trail.follow(adminOf());
    const last = others.next();
    await service.stop();
    expect(await last).toMatchObject({ done: true });
  });

  it("says which rows retention took before they were told", async () => {
    const service = await open();
    await fill(8);
    await service.trail.retain(adminOf(), { keepRows: 3 });
    const events = await service.trail.follow(adminOf(), { after: [{ node: "node-a", seq: 2 }] });
    expect(await events.next()).toMatchObject({ value: { kind: "removed", fromSeq: 3, toSeq: 5 } });
    expect(await events.next()).toMatchObject({ value: { kind: "event", event: { seq: 6 } } });
    await events.return(undefined);
  });

  it("is for persons with authority only", async () => {
    const service = await open();
    await expect(service.trail.follow(callerOf())).rejects.toThrow(/may not/);
    await expect(service.trail.export(callerOf())).rejects.toThrow(/may not/);
    await expect(service.trail.verify(callerOf())).rejects.toThrow(/may not/);
  });
});

describe("an export", () => {
  async function lines(): Promise<readonly string[]> {
    const held: string[] = [];
    for await (const line of await fixture.service.trail.export(adminOf())) held.push(line);
    return held;
  }

  it("is one CloudEvent per line and verifies alone, also after retention", async () => {
    const service = await open();
    await fill(15);
    await service.trail.retain(adminOf(), { keepRows: 9 });
    const file = await lines();
    for (const line of file) expect(JSON.parse(line)).toMatchObject({ specversion: "1.0" });
    const report = await verifyExport(file, keys);
    expect(report).toMatchObject({ ok: true, chains: [{ node: "node-a", rows: 10, vouchedSeq: 16 }] });
  });

  it("shows every line that was changed, taken out, added or moved", async () => {
    const service = await open();
    await fill(12);
    await service.trail.checkpoint(adminOf());
    const file = await lines();
    const rows = file.findIndex((line) => line.startsWith('{"chainhash"'));
    expect(rows).toBeGreaterThan(0);
    for (let at = rows; at < file.length; at++) {
      const line = file[at] as string;
      const changes = [
        file.with(at, line.replace("never", "nevar")),
        file.with(at, `${line.slice(0, -1)} }`),
        file.with(at, "{}"),
        file.toSpliced(at, 1),
        file.toSpliced(at, 0, line),
        file.slice(0, at),
      ];
      for (const changed of changes) expect(await verifyExport(changed, keys)).toMatchObject({ ok: false });
    }
  });

  it("waits for a reader that is slow", async () => {
    const service = await open();
    await fill(10);
    const held: string[] = [];
    const slow = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _, done) => {
        held.push(chunk.toString("utf8"));
        setImmediate(done);
      },
    });
    await service.trail.exportTo(adminOf(), slow);
    const file = held.join("").split("\n").slice(0, -1);
    expect(await verifyExport(file, keys)).toMatchObject({ ok: true, chains: [{ rows: 10 }] });
  });
});

describe("a store that hangs", () => {
  it("makes what is outside the allowlist unavailable in a bounded time, and is over by itself", async () => {
    let store: FaultyStore | undefined;
    const wrap = (real: AccessStore) => (store = new FaultyStore(real));
    const service = await open({ auditWaitMs: 2000, batchAgeMs: 5, checkpoints: undefined, wrap });
    await service.approvePermanently(adminOf(), { subject: READER, access: read("/srv/approved") });
    store?.closeWrites();
    const code = async (what: typeof DECLARED) => (await service.check(callerOf(), ask(what))).code;
    expect(await code(read("/srv/approved"))).toBe("unavailable");
    expect(await code(read("/srv/unknown"))).toBe("unavailable");
    expect(await code(DECLARED)).toBe("allowed_sandbox");
    expect(service.live).toBe(false);
    store?.openWrites();
    await expect.poll(() => service.live).toBe(true);
    expect(await code(read("/srv/approved"))).toBe("allowed_permanent");
    expect(await service.audit.verify()).toMatchObject({ ok: true });
  });
});
