/**
 * Ways to tamper with an audit log, each with what the verifier has to say: the place of the first bad row, or the
 * range in which it lies where the chain was hashed anew.
 */
import { type EventRow, GENESIS_HASH, hashRow } from "../audit/event-chain.ts";
import { type Random, between, pick } from "./seeded-random.ts";

export interface Log {
  readonly rows: readonly EventRow[];
  /** Lines of the checkpoint export. */
  readonly checkpoints: readonly string[];
}

export interface Tampered extends Log {
  readonly kind: string;
  /** `undefined`: a checkpoint was tampered with, and its line is what has to be named. */
  readonly firstBad: number | undefined;
  readonly line?: number;
  /** The chain was hashed anew from the first bad row on, at least up to this row. */
  readonly rehashedTo?: number;
}

type Tampering = (log: Log, random: Random) => Omit<Tampered, "kind">;

const TEXT_FIELDS = ["node", "time", "previousHash", "body", "hash"] as const;

/** One bit of one character; characters stay in the range of UTF-16. */
function flipBit(text: string, random: Random): string {
  const at = between(random, 0, text.length - 1);
  const code = text.charCodeAt(at) ^ (1 << between(random, 0, 15));
  return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
}

function withRow(rows: readonly EventRow[], index: number, change: Partial<EventRow>): EventRow[] {
  return rows.with(index, { ...(rows[index] as EventRow), ...change });
}

/** Links and hashes again from an index up to another, both included. */
function rehash(rows: readonly EventRow[], from: number, to: number): EventRow[] {
  const made = [...rows];
  for (let index = from; index <= to; index++) {
    const previousHash = made[index - 1]?.hash ?? GENESIS_HASH;
    const row = { ...(made[index] as EventRow), previousHash };
    made[index] = { ...row, hash: hashRow(row) };
  }
  return made;
}

const renumbered = (rows: readonly EventRow[]): EventRow[] =>
  rows.map((row, index) => ({ ...row, seq: index + 1 }));

const someIndex = (log: Log, random: Random): number => between(random, 0, log.rows.length - 1);

export const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  flip: (log, random) => {
    const index = someIndex(log, random);
    const field = pick(random, TEXT_FIELDS);
    const changed = flipBit((log.rows[index] as EventRow)[field], random);
    return { ...log, rows: withRow(log.rows, index, { [field]: changed }), firstBad: index + 1 };
  },
  flipNumber: (log, random) => {
    const index = someIndex(log, random);
    const seq = (index + 1) ^ (1 << between(random, 0, 30));
    return { ...log, rows: withRow(log.rows, index, { seq }), firstBad: index + 1 };
  },
  delete: (log, random) => {
    const index = someIndex(log, random);
    const count = between(random, 1, 4);
    return { ...log, rows: log.rows.toSpliced(index, count), firstBad: index + 1 };
  },
  deleteAndRenumber: (log, random) => {
    const index = between(random, 0, log.rows.length - 2);
    return { ...log, rows: renumbered(log.rows.toSpliced(index, 1)), firstBad: index + 1 };
  },
  deleteAndRelink: (log, random) => {
    const index = between(random, 0, log.rows.length - 2);
    const rows = log.rows.toSpliced(index, 1);
    return { ...log, rows: rehash(rows, index, rows.length - 1), firstBad: index + 1 };
  },
  insertForged: (log, random) => {
    const index = someIndex(log, random);
    const row = { ...(log.rows[index] as EventRow), body: '{"forged":true}' };
    const forged = { ...row, hash: hashRow(row) };
    return { ...log, rows: log.rows.toSpliced(index, 0, forged), firstBad: index + 1 };
  },
  insertGarbage: (log, random) => {
    const index = between(random, 0, log.rows.length);
    const garbage = { ...pick(random, log.rows), seq: index + 1, body: "{}" };
    return { ...log, rows: log.rows.toSpliced(index, 0, garbage), firstBad: index + 1 };
  },
  replay: (log, random) => {
    const index = between(random, 0, log.rows.length);
    const from = pick(random, log.rows);
    // WHY: a copy right before its original is, byte for byte, a copy right behind it.
    const firstBad = from.seq === index + 1 ? index + 2 : index + 1;
    return { ...log, rows: log.rows.toSpliced(index, 0, from), firstBad };
  },
  reorder: (log, random) => {
    const index = between(random, 0, log.rows.length - 2);
    const other = between(random, index + 1, log.rows.length - 1);
    const [first, second] = [log.rows[index] as EventRow, log.rows[other] as EventRow];
    return { ...log, rows: log.rows.with(index, second).with(other, first), firstBad: index + 1 };
  },
  move: (log, random) => {
    const index = between(random, 0, log.rows.length - 2);
    const to = between(random, index + 1, log.rows.length - 1);
    const rows = log.rows.toSpliced(index, 1).toSpliced(to, 0, log.rows[index] as EventRow);
    return { ...log, rows, firstBad: index + 1 };
  },
  swapBodies: (log, random) => {
    const index = between(random, 0, log.rows.length - 2);
    const other = between(random, index + 1, log.rows.length - 1);
    const [first, second] = [log.rows[index] as EventRow, log.rows[other] as EventRow];
    const rows = withRow(withRow(log.rows, index, { body: second.body }), other, { body: first.body });
    return { ...log, rows, firstBad: index + 1 };
  },
  cut: (log, random) => {
    const index = someIndex(log, random);
    return { ...log, rows: log.rows.slice(0, index), firstBad: index + 1 };
  },
  rewriteOne: (log, random) => {
    const index = someIndex(log, random);
    const rows = withRow(log.rows, index, { body: '{"rewritten":true}' });
    return { ...log, rows: rehash(rows, index, index), firstBad: index + 1 };
  },
  rewriteSome: (log, random) => {
    const index = someIndex(log, random);
    const last = between(random, index, log.rows.length - 1);
    const rows = withRow(log.rows, index, { time: "2020-01-01T00:00:00Z" });
    return { ...log, rows: rehash(rows, index, last), firstBad: index + 1, rehashedTo: last + 1 };
  },
  rewriteSuffix: (log, random) => {
    const index = someIndex(log, random);
    const rows = withRow(log.rows, index, { body: '{"rewritten":true}' });
    const last = rows.length - 1;
    return { ...log, rows: rehash(rows, index, last), firstBad: index + 1, rehashedTo: last + 1 };
  },
  deleteAndRehash: (log, random) => {
    const index = someIndex(log, random);
    const rows = renumbered(log.rows.toSpliced(index, 1));
    const last = rows.length - 1;
    return { ...log, rows: rehash(rows, index, last), firstBad: index + 1, rehashedTo: last + 2 };
  },
  insertAndRehash: (log, random) => {
    const index = someIndex(log, random);
    const forged = { ...(log.rows[index] as EventRow), body: '{"forged":true}' };
    const rows = renumbered(log.rows.toSpliced(index, 0, forged));
    const last = rows.length - 1;
    return { ...log, rows: rehash(rows, index, last), firstBad: index + 1, rehashedTo: last + 1 };
  },
  checkpointFlip: (log, random) => {
    const at = between(random, 0, log.checkpoints.length - 1);
    const line = flipBit(log.checkpoints[at] as string, random);
    return { ...log, checkpoints: log.checkpoints.with(at, line), firstBad: undefined, line: at + 1 };
  },
  checkpointReplay: (log, random) => {
    const at = between(random, 2, log.checkpoints.length - 1);
    // WHY: a checkpoint twice in a row is an export that was tried again.
    const old = log.checkpoints[between(random, 0, at - 2)] as string;
    return { ...log, checkpoints: log.checkpoints.with(at, old), firstBad: undefined, line: at + 1 };
  },
};

export function tamper(log: Log, kind: string, random: Random): Tampered {
  const tampering = TAMPERINGS[kind] as Tampering;
  return { kind, ...tampering(log, random) };
}
