/**
 * The verifier of one node's chain. Reads every row once, keeps two of them, and names the first bad one.
 * Trusts the public keys and nothing that comes from the store. What lies behind the last checkpoint and the last
 * link of another node is checked for continuity only: the report says how many rows that are.
 */
import { AnchorFeed, type Feed } from "./anchor-feed.ts";
import { type ChainFault, chainFault } from "./chain-fault.ts";
import { type ChainBegin, type CheckpointKeys, type SignedCheckpoint, checkSignature } from "./checkpoint.ts";
import { type ChainHead, type EventRow, genesisOf, hashRow } from "./event-chain.ts";
import { diagnose } from "./diagnose-row.ts";
import { RowFeed, type Rows } from "./row-feed.ts";

export interface ChainInput {
  readonly node: string;
  /** In the order of their numbers, as the store returns them. */
  readonly rows: Rows;
  /** Lines of the node's checkpoint export, oldest first. */
  readonly checkpoints?: Feed<string> | undefined;
  /** Whose lines the export holds; the node's alone unless said. */
  readonly exportOf?: "node" | "all_nodes" | undefined;
  /** Checkpoints that the store itself keeps, as lines, oldest first. */
  readonly stored?: Feed<string> | undefined;
  /** What other nodes say about this one (`linksTo`, `headsOf`); one feed per node, oldest first. */
  readonly links?: readonly Feed<ChainHead>[] | undefined;
  /** Only rows behind this one are given. */
  readonly start?: SignedCheckpoint | undefined;
  /** What the first row continues from where older rows were removed. The caller has it from a signed checkpoint. */
  readonly begin?: ChainBegin | undefined;
  readonly keys: CheckpointKeys;
}

export interface ChainSound {
  readonly ok: true;
  readonly node: string;
  readonly rows: number;
  readonly head: ChainHead;
  readonly checkpoints: number;
  readonly links: number;
  /** Links whose row had passed before they were read. */
  readonly linksPassed: number;
  /** The last row that somebody vouches for; what is behind it could have been hashed anew. */
  readonly vouchedSeq: number;
}

export type ChainReport = ChainSound | ChainFault;

export async function verifyChain(input: ChainInput): Promise<ChainReport> {
  const { node, start, keys } = input;
  const from: ChainHead = start ?? { ...genesisOf(node), ...input.begin };
  const startSeq = from.seq;
  const startFault = start === undefined ? undefined : startFaultOf(start, input);
  if (startFault !== undefined) return startFault;
  const anchors = await AnchorFeed.open({
    node,
    checkpoints: input.checkpoints ?? [],
    exportOf: input.exportOf ?? "node",
    stored: input.stored ?? [],
    links: input.links ?? [],
    keys,
    startSeq,
  });
  // WHY after the anchors: a log that is written meanwhile must not be shorter than what is said about it.
  const feed = await RowFeed.open(input.rows);
  let head = from;
  let vouchedSeq = startSeq;
  for (let coming: Promise<void> | undefined; feed.row !== undefined; coming = feed.advance()) {
    if (coming !== undefined) await coming;
    const { row } = feed;
    if (row === undefined) break;
    if (!continues(row, head) || feed.next?.seq === row.seq) {
      const problem = await diagnose(feed, { head, vouchedSeq, anchors });
      if (problem !== undefined) return problem;
    }
    head = row;
    if (head.seq < anchors.dueSeq) continue;
    const problem = await anchors.meet(head);
    if (problem !== undefined)
      return chainFault(problem.reason, { node, seq: head.seq, vouchedSeq, ...problem });
    vouchedSeq = head.seq;
  }
  const problem = await anchors.finish();
  if (problem !== undefined)
    return chainFault(problem.reason, { node, seq: head.seq + 1, vouchedSeq, ...problem });
  const { checkpoints, links, linksPassed } = anchors;
  const rows = head.seq - startSeq;
  return Object.freeze({
    ok: true,
    node,
    rows,
    head: Object.freeze({ node, seq: head.seq, hash: head.hash }),
    checkpoints,
    links,
    linksPassed,
    vouchedSeq,
  });
}

function startFaultOf(start: SignedCheckpoint, { node, keys }: ChainInput): ChainFault | undefined {
  const reason = start.node === node ? checkSignature(start, keys) : "bad_signature";
  return reason === undefined ? undefined : chainFault(reason, { node, seq: start.seq, vouchedSeq: 0 });
}

/** INVARIANT: nothing but this makes a row good; a diagnosis only says what is wrong. */
function continues(row: EventRow, head: ChainHead): boolean {
  return (
    row.seq === head.seq + 1 &&
    row.node === head.node &&
    row.previousHash === head.hash &&
    typeof row.body === "string" &&
    typeof row.time === "string" &&
    hashRow(row) === row.hash
  );
}
