/** The verifier: an untouched log verifies, a tampered one never does, and the first bad row is named. */
import { createPublicKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Random, between, prng } from "../testing/seeded-random.ts";
import { sampleRows } from "../testing/sample-event.ts";
import { type Log, TAMPERINGS, type Tampered, tamper } from "../testing/tamper.ts";
import {
  type SignedCheckpoint,
  WHOLE_CHAIN,
  checkpointKeys,
  checkpointLine,
  generateCheckpointSigner,
  headsOf,
  signCheckpoint,
} from "./checkpoint.ts";
import { type ChainHead, type EventRow, hashRow, linksTo } from "./event-chain.ts";
import { type ChainInput, type ChainReport, verifyChain } from "./verify-chain.ts";

const signer = generateCheckpointSigner();
const keys = checkpointKeys([createPublicKey(signer.privateKey)]);

function checkpointAt(
  rows: readonly EventRow[],
  seq: number,
  heads: readonly ChainHead[] = [],
): SignedCheckpoint {
  const { node, hash, time } = rows[seq - 1] as EventRow;
  return signCheckpoint({ node, seq, hash, time, begin: WHOLE_CHAIN, heads }, signer);
}

/** A log whose last row is vouched for. */
function makeLog(rows: readonly EventRow[], every: number): Log {
  const seqs = rows.map(({ seq }) => seq).filter((seq) => seq % every === 0 || seq === rows.length);
  return { rows, checkpoints: seqs.map((seq) => checkpointLine(checkpointAt(rows, seq))) };
}

const verify = (log: Log, more: Partial<ChainInput> = {}): Promise<ChainReport> =>
  verifyChain({ node: "a", rows: log.rows, checkpoints: log.checkpoints, keys, ...more });

const whole = sampleRows("a", 30);
const LOG = makeLog(whole, 7);
/** Short, because it is tampered with so often. */
const SHORT = makeLog(whole.slice(0, 20), 8);

/** Where a report misses what was done, what it should have said; else nothing. */
function missed(made: Tampered, report: ChainReport): string | undefined {
  if (report.ok) return `${made.kind} was not noticed`;
  const said = `${report.reason} at ${report.seq}, vouched ${report.vouchedSeq}, line ${report.line}`;
  if (made.firstBad === undefined) {
    return report.line === made.line ? undefined : `${made.kind} of line ${made.line}: ${said}`;
  }
  const isRight =
    made.rehashedTo === undefined
      ? report.seq === made.firstBad
      : report.vouchedSeq < made.firstBad && made.firstBad <= report.seq && report.seq <= made.rehashedTo;
  return isRight ? undefined : `${made.kind} of row ${made.firstBad}: ${said}`;
}

const FIELDS = ["node", "seq", "time", "previousHash", "body", "hash"] as const;

function isSameRow(row: EventRow, other: EventRow | undefined): boolean {
  return FIELDS.every((field) => row[field] === other?.[field]);
}

function isUnchanged({ rows, checkpoints }: Log): boolean {
  if (rows.length !== SHORT.rows.length) return false;
  const sameRows = rows.every((row, index) => isSameRow(row, SHORT.rows[index]));
  return sameRows && checkpoints.every((line, index) => line === SHORT.checkpoints[index]);
}

describe("verifyChain", () => {
  it("names the first bad row in 10 000 random tamperings and misses none", async () => {
    const kinds = Object.keys(TAMPERINGS);
    const misses: string[] = [];
    const seen = new Map<string, number>();
    for (let run = 0; run < 10_000; run++) {
      const made = tamper(SHORT, kinds[run % kinds.length] as string, prng(run));
      expect(isUnchanged(made)).toBe(false);
      const miss = missed(made, await verify(made));
      if (miss !== undefined) misses.push(miss);
      seen.set(made.kind, (seen.get(made.kind) ?? 0) + 1);
    }
    expect(misses).toEqual([]);
    expect(Math.min(...kinds.map((kind) => seen.get(kind) ?? 0))).toBeGreaterThan(500);
  });

  it("misses none in a log whose first rows retention removed", async () => {
    const begin = { seq: 6, hash: (whole[5] as EventRow).hash };
    const log: Log = { rows: whole.slice(6, 26), checkpoints: SHORT.checkpoints.slice(1) };
    const stored = [13, 26].map((seq) => checkpointLine(checkpointAt(whole, seq)));
    expect(await verify(log, { begin, stored })).toMatchObject({ ok: true, rows: 20, vouchedSeq: 26 });
    expect(await verify(log, { stored })).toMatchObject({ reason: "deleted", seq: 1 });
    const kinds = Object.keys(TAMPERINGS).filter((kind) => !kind.startsWith("checkpoint"));
    const misses: string[] = [];
    for (let run = 0; run < 2000; run++) {
      const made = tamper(log, kinds[run % kinds.length] as string, prng(run));
      const isSame =
        made.rows.length === log.rows.length && made.rows.every((row, at) => isSameRow(row, log.rows[at]));
      const report = await verify(made, { begin, stored });
      if (report.ok !== isSame) misses.push(made.kind);
    }
    expect(misses).toEqual([]);
  });

  it("verifies every untouched log, with and without checkpoints and a start", async () => {
    for (let run = 0; run < 60; run++) {
      const random: Random = prng(run);
      const rows = whole.slice(0, between(random, 1, whole.length));
      const log = makeLog(rows, between(random, 1, 12));
      const report = await verify(log);
      expect(report).toMatchObject({ ok: true, rows: rows.length, vouchedSeq: rows.length });
      const startSeq = between(random, 1, rows.length);
      const start = checkpointAt(rows, startSeq);
      const after = await verify({ ...log, rows: rows.slice(startSeq) }, { start });
      expect(after).toMatchObject({ ok: true, rows: rows.length - startSeq, vouchedSeq: rows.length });
      expect(await verify({ rows, checkpoints: [] })).toMatchObject({ ok: true, vouchedSeq: 0 });
    }
  });

  it("takes a checkpoint that was exported twice in a row", async () => {
    const [first, ...others] = LOG.checkpoints as [string, ...string[]];
    const report = await verify({ ...LOG, checkpoints: [first, first, ...others] });
    expect(report).toMatchObject({ ok: true, checkpoints: LOG.checkpoints.length + 1 });
  });

  it("verifies an empty log, and calls it cut where a checkpoint says otherwise", async () => {
    expect(await verify({ rows: [], checkpoints: [] })).toMatchObject({ ok: true, rows: 0 });
    expect(await verify({ ...LOG, rows: [] })).toMatchObject({ ok: false, reason: "cut", seq: 1 });
  });

  it("keeps at most three rows of a stream and reads each once", async () => {
    let made = 0;
    let collected = 0;
    async function* stream(): AsyncGenerator<EventRow> {
      for (const row of whole) {
        made++;
        yield row;
        collected++;
        expect(made - collected).toBeLessThanOrEqual(1);
      }
    }
    expect(await verify({ ...LOG, rows: [] }, { rows: stream() })).toMatchObject({ ok: true });
    expect(made).toBe(whole.length);
  });
});

describe("the reason that is given", () => {
  const at = (seq: number): EventRow => whole[seq - 1] as EventRow;
  const rehashed = (row: EventRow): EventRow => ({ ...row, hash: hashRow(row) });
  const fresh = "f".repeat(64);

  it.each<readonly [string, string, number, () => readonly EventRow[]]>([
    ["body_changed", "an edited body", 5, () => whole.with(4, { ...at(5), body: "{}" })],
    ["body_changed", "an edited time", 5, () => whole.with(4, { ...at(5), time: "2026-01-31T09:00:06Z" })],
    ["body_changed", "a row given to another node", 5, () => whole.with(4, { ...at(5), node: "b" })],
    ["hash_changed", "an edited hash", 5, () => whole.with(4, { ...at(5), hash: fresh })],
    ["hash_changed", "an edited hash of the last row", 30, () => whole.with(29, { ...at(30), hash: fresh })],
    ["link_changed", "an edited link", 5, () => whole.with(4, { ...at(5), previousHash: fresh })],
    ["sequence_changed", "an edited number", 5, () => whole.with(4, { ...at(5), seq: 50 })],
    ["sequence_changed", "a number used twice", 5, () => whole.with(4, { ...at(5), seq: 4 })],
    [
      "sequence_gap",
      "a row taken out and its neighbour linked again",
      5,
      () => whole.toSpliced(4, 2, rehashed({ ...at(6), previousHash: at(4).hash })),
    ],
    ["reordered", "two rows that changed places", 5, () => whole.with(4, at(9)).with(8, at(5))],
    [
      "inserted",
      "a forged row that continues the chain",
      5,
      () => whole.toSpliced(4, 0, rehashed({ ...at(5), body: "{}" })),
    ],
    [
      "inserted",
      "a forged row behind the true one",
      6,
      () => whole.toSpliced(5, 0, rehashed({ ...at(5), body: "{}" })),
    ],
    [
      "inserted",
      "a forged row before the last one",
      30,
      () => whole.toSpliced(29, 0, rehashed({ ...at(30), body: "{}" })),
    ],
    ["inserted", "an old row played again", 9, () => whole.toSpliced(8, 0, at(3))],
    ["inserted", "a later row played before its time", 5, () => whole.toSpliced(4, 0, at(9))],
    ["inserted", "a row of another node", 5, () => whole.toSpliced(4, 0, sampleRows("b", 5)[4] as EventRow)],
    ["deleted", "a row taken out", 5, () => whole.toSpliced(4, 1)],
    ["deleted", "the first rows taken out", 1, () => whole.slice(3)],
    [
      "deleted",
      "a row taken out and the others numbered again",
      5,
      () => whole.toSpliced(4, 1).map((row, index) => ({ ...row, seq: index + 1 })),
    ],
    ["rewritten", "a row hashed anew alone", 5, () => whole.with(4, rehashed({ ...at(5), body: "{}" }))],
    [
      "rewritten",
      "the row behind a checkpoint hashed anew with another link",
      8,
      () => whole.with(7, rehashed({ ...at(8), previousHash: fresh })),
    ],
    ["cut", "a tail cut behind a checkpoint", 24, () => whole.slice(0, 23)],
    [
      "malformed",
      "a row without a body",
      5,
      () => whole.with(4, { ...at(5), body: null } as unknown as EventRow),
    ],
    ["malformed", "a row whose number is no number", 5, () => whole.with(4, { ...at(5), seq: Number.NaN })],
  ])("is %s for %s", async (reason, _, seq, rows) => {
    expect(await verify({ ...LOG, rows: rows() })).toMatchObject({ ok: false, reason, seq });
  });

  it("is cut with every missing row that somebody vouched for, and with none that nobody did", async () => {
    const cut = { ...LOG, rows: whole.slice(0, 10) };
    expect(await verify(cut)).toMatchObject({
      reason: "cut",
      seq: 11,
      missingTo: 30,
      line: 2,
      message:
        "rows 11 to 30 of node `a` are missing with everything behind them, though they were vouched for (line 2 of the export): trust rows up to 7, and compare the rest with a backup",
    });
    const forger = { ...generateCheckpointSigner(), keyId: signer.keyId };
    const forged = checkpointLine(signCheckpoint(checkpointAt(whole, 30), forger));
    const checkpoints = [...LOG.checkpoints.slice(0, -2), forged];
    expect(await verify({ ...cut, checkpoints })).toMatchObject({ reason: "cut", seq: 11, missingTo: 21 });
    const single = await verify({ ...LOG, rows: whole.slice(0, 29) });
    expect(single).toMatchObject({ reason: "cut", seq: 30, missingTo: 30 });
    expect(single).toMatchObject({ message: expect.stringContaining("row 30 of node `a` is missing with") });
  });

  it("is bad_signature for a checkpoint that another key signed under a known id", async () => {
    const forger = { ...generateCheckpointSigner(), keyId: signer.keyId };
    const forged = signCheckpoint(checkpointAt(whole, 7), forger);
    const report = await verify({ rows: whole, checkpoints: [checkpointLine(forged)] });
    expect(report).toMatchObject({ reason: "bad_signature", seq: 7, line: 1 });
    const start = await verify({ rows: whole.slice(7), checkpoints: [] }, { start: forged });
    expect(start).toMatchObject({ reason: "bad_signature", seq: 7 });
  });

  it("is bad_signature for a checkpoint of another node", async () => {
    const line = checkpointLine(checkpointAt(sampleRows("b", 7), 7));
    expect(await verify({ rows: whole, checkpoints: [line] })).toMatchObject({
      reason: "bad_signature",
      line: 1,
    });
  });

  it("is unknown_key for a checkpoint of a key that nobody gave", async () => {
    const report = await verify(LOG, { keys: new Map() });
    expect(report).toMatchObject({ reason: "unknown_key", seq: 7, line: 1 });
  });

  it("is reordered for an old checkpoint in the place of a newer one", async () => {
    const checkpoints = LOG.checkpoints.with(2, LOG.checkpoints[0] as string);
    expect(await verify({ ...LOG, checkpoints })).toMatchObject({ reason: "reordered", line: 3 });
  });

  it("says what to do next", async () => {
    const report = await verify({ ...LOG, rows: whole.with(9, { ...at(10), body: "{}" }) });
    expect(report).toMatchObject({
      message:
        "row 10 of node `a` has another body, time or node than its hash covers: trust rows up to 7, and compare the rest with a backup",
    });
  });
});

describe("links between nodes", () => {
  const b = sampleRows("b", 20);
  const linked = (seq: number): readonly ChainHead[] =>
    seq % 5 === 0
      ? [{ node: "b", seq: seq / 2 + 5, hash: (b[Math.floor(seq / 2) + 4] as EventRow).hash }]
      : [];
  const a = sampleRows("a", 20, (seq) => (seq % 10 === 0 ? linked(seq) : []));
  const verifyB = (rows: readonly EventRow[], links: ChainInput["links"]) =>
    verifyChain({ node: "b", rows, keys, links });

  it("vouch for the rows of a node that lost its checkpoints", async () => {
    expect(await verifyB(b, [linksTo("b", a)])).toMatchObject({ ok: true, links: 2, vouchedSeq: 15 });
  });

  it("give away a chain that was hashed anew, and a tail that was cut", async () => {
    const forged: EventRow[] = [...b];
    for (let index = 11, previousHash = (b[10] as EventRow).hash; index < b.length; index++) {
      const row = { ...(b[index] as EventRow), previousHash, time: "2020-01-01T00:00:00Z" };
      forged[index] = { ...row, hash: hashRow(row) };
      previousHash = (forged[index] as EventRow).hash;
    }
    expect(await verifyB(forged, [])).toMatchObject({ ok: true });
    const report = await verifyB(forged, [linksTo("b", a)]);
    expect(report).toMatchObject({ reason: "rewritten", seq: 15, vouchedSeq: 10 });
    expect(await verifyB(b.slice(0, 12), [linksTo("b", a)])).toMatchObject({ reason: "cut", seq: 13 });
  });

  it("come from signed checkpoints of other nodes as well, and only from good ones", async () => {
    const head = { node: "b", seq: 20, hash: (b[19] as EventRow).hash };
    const line = checkpointLine(checkpointAt(a, 20, [head]));
    const cutTo = b.slice(0, 19);
    expect(await verifyB(cutTo, [headsOf("b", [line], keys)])).toMatchObject({ reason: "cut", seq: 20 });
    expect(await verifyB(cutTo, [headsOf("b", [line], new Map())])).toMatchObject({ ok: true });
  });

  it("are counted where they come too late to be compared", async () => {
    const link = (seq: number): ChainHead => ({ node: "b", seq, hash: (b[seq - 1] as EventRow).hash });
    const report = await verifyB(b, [[link(9), link(4)]]);
    expect(report).toMatchObject({ ok: true, links: 1, linksPassed: 1 });
  });

  it("are part of the body: nobody can take one away", async () => {
    const stripped = a.with(9, { ...(a[9] as EventRow), body: (sampleRows("a", 10)[9] as EventRow).body });
    expect(await verify({ rows: stripped, checkpoints: [] })).toMatchObject({
      reason: "body_changed",
      seq: 10,
    });
  });
});
