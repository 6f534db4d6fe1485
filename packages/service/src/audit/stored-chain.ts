/** Rows of the store as the chain sees them, page by page. Trusts nothing that it reads: the verifier does the judging. */
import type { AccessStore, ChainText, ChainedRow, CheckpointRow, StoreReader } from "@sallyport/store";
import { timestampOf } from "../node-clock.ts";
import { type SignedCheckpoint, checkpointLine } from "./checkpoint.ts";
import { type ChainHead, type EventRow, GENESIS_HASH, genesisOf, headOf, isHead } from "./event-chain.ts";

const PAGE_ROWS = 1000;

const hex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
export const bytesOfHex = (text: string): Uint8Array => Buffer.from(text, "hex");

export function chainRow({ node, seq, timeMs, prevHash, body, hash }: ChainedRow): EventRow {
  return { node, seq, time: timestampOf(timeMs), previousHash: hex(prevHash), body, hash: hex(hash) };
}

export function chainTextRow(node: string, { seq, timeMs, prevHash, body, hash }: ChainText): EventRow {
  return { node, seq, time: timestampOf(timeMs), previousHash: prevHash, body, hash };
}

export async function lastHead(tx: StoreReader, node: string): Promise<ChainHead> {
  const last = await tx.events.lastOf(node);
  return last === null ? genesisOf(node) : headOf(chainRow(last));
}

export interface StoredSpan {
  /** The first row that is wanted. */
  readonly from: number;
  /** The last one; the end of the chain unless said. */
  readonly to?: number | undefined;
}

export async function* storedRows(
  store: AccessStore,
  node: string,
  span: StoredSpan,
): AsyncGenerator<EventRow> {
  for await (const page of storedPages(store, node, span)) yield* page;
}

/** The same, page by page. */
export async function* storedPages(
  store: AccessStore,
  node: string,
  { from, to = Number.MAX_SAFE_INTEGER }: StoredSpan,
): AsyncGenerator<readonly EventRow[]> {
  for (let start = from; start <= to;) {
    const span = { from: start, to, limit: PAGE_ROWS };
    const rows = await store.read((tx) => tx.events.chain(node, span));
    yield rows.map((row) => chainTextRow(node, row));
    if (rows.length < PAGE_ROWS) return;
    start = (rows.at(-1)?.seq ?? to) + 1;
  }
}

/** Lines as an export would hold them, oldest first. */
export async function* storedCheckpoints(store: AccessStore, node: string): AsyncGenerator<string> {
  for (let afterSeq = -1; ;) {
    const span = { afterSeq, limit: PAGE_ROWS };
    const rows = await store.read((tx) => tx.checkpoints.list(node, span));
    for (const row of rows) yield checkpointLine(signedOf(row));
    if (rows.length < PAGE_ROWS) return;
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
  }
}

export function signedOf(row: CheckpointRow): SignedCheckpoint {
  const { node, seq, timeMs, keyId, otherHeads } = row;
  const heads: readonly unknown[] = Array.isArray(otherHeads) ? (otherHeads as readonly unknown[]) : [];
  return {
    node,
    seq,
    hash: hex(row.hash),
    time: timestampOf(timeMs),
    begin: { seq: row.beginSeq, hash: row.beginSeq === 0 ? GENESIS_HASH : hex(row.beginHash) },
    heads: heads.filter(isHead),
    keyId,
    signature: hex(row.signature),
  };
}

export function checkpointRow(signed: SignedCheckpoint): CheckpointRow {
  const { node, seq, time, keyId, begin, heads } = signed;
  return {
    node,
    seq,
    hash: bytesOfHex(signed.hash),
    timeMs: Date.parse(time),
    keyId,
    signature: bytesOfHex(signed.signature),
    otherHeads: heads.map((head) => ({ node: head.node, seq: head.seq, hash: head.hash })),
    beginSeq: begin.seq,
    beginHash: bytesOfHex(begin.hash),
  };
}
