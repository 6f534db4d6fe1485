/**
 * Why a row does not continue its chain. Compares what the row would be with one field restored, and what the rows
 * around it say. Never turns a bad row into a good one.
 */
import type { AnchorFeed } from "./anchor-feed.ts";
import { type ChainFault, type ChainFaultReason, chainFault } from "./chain-fault.ts";
import { type ChainHead, type EventRow, hashRow } from "./event-chain.ts";
import type { RowFeed } from "./row-feed.ts";

export interface Standing {
  readonly head: ChainHead;
  readonly vouchedSeq: number;
  readonly anchors: AnchorFeed;
}

/** The fault, or `undefined` where the row is good and the doubt was about the row after it. */
export async function diagnose(feed: RowFeed, standing: Standing): Promise<ChainFault | undefined> {
  const { head, vouchedSeq } = standing;
  const seq = head.seq + 1;
  const row = feed.row as EventRow;
  const fault = (reason: ChainFaultReason, place = seq): ChainFault =>
    chainFault(reason, { node: head.node, seq: place, vouchedSeq });
  if (!isRow(row)) return fault("malformed");
  const isWhole = hashRow(row) === row.hash;
  if (isWhole && row.seq === seq && row.node === head.node && row.previousHash === head.hash) {
    return (await isOusted(feed, standing)) ? fault("inserted") : undefined;
  }
  if (hashRow({ ...row, node: head.node, seq, previousHash: head.hash }) === row.hash) {
    if (row.seq !== seq) return fault("sequence_changed");
    return fault(row.previousHash === head.hash ? "body_changed" : "link_changed");
  }
  if (row.node !== head.node || row.seq < seq) return fault("inserted");
  if (row.seq > seq) return fault(await reasonOfGap(feed, seq, head, isWhole));
  if (feed.next !== undefined && feed.next.seq === seq) return fault("inserted");
  // WHY: the row itself is whole and names another row before it, so that one is not what it was.
  if (isWhole) return fault("rewritten", vouchedSeq === head.seq ? seq : head.seq);
  if (hashRow({ ...row, seq: seq + 1 }) === row.hash) return fault("deleted");
  const expected = hashRow(row);
  const isVouched = feed.next?.previousHash === expected || standing.anchors.hashAt(seq) === expected;
  return fault(isVouched && row.previousHash === head.hash ? "hash_changed" : "body_changed");
}

/** Two rows with one number both continue the chain: does the log go on from the other one? */
async function isOusted(feed: RowFeed, { head, anchors }: Standing): Promise<boolean> {
  const { next: rival } = feed;
  if (rival === undefined || !isRow(rival) || rival.previousHash !== head.hash) return false;
  const believed = anchors.hashAt(rival.seq) ?? (await feed.third())?.previousHash;
  return rival.hash === believed && rival.hash !== feed.row?.hash && hashRow(rival) === rival.hash;
}

/** Reads to the end of the log, to tell a row that stands elsewhere from one that is gone. */
async function reasonOfGap(
  feed: RowFeed,
  seq: number,
  head: ChainHead,
  isWhole: boolean,
): Promise<ChainFaultReason> {
  const early = feed.row as EventRow;
  if (isWhole && early.previousHash === head.hash) return "sequence_gap";
  let isLater = false;
  let isTwice = false;
  for await (const row of feed.rest()) {
    isLater ||= row.seq === seq;
    isTwice ||= row.seq === early.seq;
  }
  if (!isLater) return "deleted";
  return isTwice || !isWhole ? "inserted" : "reordered";
}

/** WHY: rows come from a store that somebody may have written to. */
function isRow(row: EventRow): boolean {
  return (
    Number.isSafeInteger(row.seq) &&
    typeof row.node === "string" &&
    typeof row.time === "string" &&
    typeof row.previousHash === "string" &&
    typeof row.body === "string" &&
    typeof row.hash === "string"
  );
}
