/**
 * The log as JSON lines that can be verified alone: for every chain its signed checkpoints, then its rows, each line a
 * CloudEvent. A row is the event as it was hashed, with its place in the chain as extension attributes in front.
 * Reads page by page and waits for its reader. Never writes a line for a row that is not an event.
 */
import type { AccessStore } from "@sallyport/store";
import { type Feed, puller } from "./anchor-feed.ts";
import { canonical } from "./canonical-json.ts";
import { chainFault } from "./chain-fault.ts";
import {
  type ChainBegin,
  type CheckpointKeys,
  type SignedCheckpoint,
  WHOLE_CHAIN,
  checkSignature,
  checkpointLine,
  parseCheckpointLine,
} from "./checkpoint.ts";
import { type EventRow, isHash } from "./event-chain.ts";
import { storedCheckpoints, storedRows } from "./stored-chain.ts";
import { type ChainSound, verifyChain } from "./verify-chain.ts";
import type { LogReport } from "./verify-log.ts";

const CHECKPOINT_TYPE = "audit.checkpoint";

/** Lines without their break. What is written meanwhile is not among them. */
export async function* exportEvents(store: AccessStore): AsyncGenerator<string> {
  const heads = await store.read((tx) => tx.events.heads());
  for (const { node, seq } of heads) {
    for await (const line of storedCheckpoints(store, node)) {
      const checkpoint = parseCheckpointLine(line);
      if (checkpoint !== undefined && checkpoint.seq <= seq) yield lineOfCheckpoint(checkpoint);
    }
    let last: number | null = null;
    for await (const row of storedRows(store, node, { from: Number.MIN_SAFE_INTEGER, to: seq })) {
      if (last !== null && row.seq !== last + 1)
        throw new Error(`row ${last + 1} of node \`${node}\` is missing: verify the log, then export again`);
      last = row.seq;
      yield lineOfRow(row);
    }
  }
}

/** WHY text in front of text: the names sort before those of an event, so that the line is canonical JSON again. */
function lineOfRow({ node, seq, previousHash, hash, body }: EventRow): string {
  if (!body.startsWith('{"'))
    throw new Error(`row ${seq} of node \`${node}\` is no event: verify the log before you export it`);
  const chain = { chainhash: hash, chainnode: node, chainprevious: previousHash, chainseq: seq };
  return `${canonical(chain).slice(0, -1)},${body.slice(1)}`;
}

function lineOfCheckpoint(checkpoint: SignedCheckpoint): string {
  const { node, time, signature } = checkpoint;
  return canonical({
    specversion: "1.0",
    id: `checkpoint-${signature.slice(0, 32)}`,
    source: `/nodes/${encodeURIComponent(node)}`,
    type: CHECKPOINT_TYPE,
    time,
    datacontenttype: "application/json",
    data: JSON.parse(checkpointLine(checkpoint)) as unknown,
  });
}

type Line =
  | { readonly kind: "row"; readonly node: string; readonly row: EventRow }
  | { readonly kind: "checkpoint"; readonly node: string; readonly text: string; readonly begin: ChainBegin }
  | { readonly kind: "broken" };

/** Needs nothing but the file and the public keys. */
export async function verifyExport(lines: Feed<string>, keys: CheckpointKeys): Promise<LogReport> {
  const pull = puller(lines);
  const chains: ChainSound[] = [];
  const take = async (): Promise<Line | undefined> => {
    const text = await pull();
    return text === undefined ? undefined : readLine(text, keys);
  };
  let line = await take();
  while (line !== undefined) {
    if (line.kind === "broken") return chainFault("malformed", { node: "", seq: 1, vouchedSeq: 0 });
    const { node } = line;
    if (chains.some((chain) => chain.node === node))
      return chainFault("inserted", { node, seq: 1, vouchedSeq: 0 });
    const checkpoints: string[] = [];
    let begin = WHOLE_CHAIN;
    for (; line?.kind === "checkpoint" && line.node === node; line = await take()) {
      checkpoints.push(line.text);
      if (line.begin.seq > begin.seq) ({ begin } = line);
    }
    async function* rows(): AsyncGenerator<EventRow> {
      for (; line !== undefined; line = await take()) {
        if (line.kind === "checkpoint" || (line.kind === "row" && line.node !== node)) return;
        yield line.kind === "row" ? line.row : ({} as EventRow);
      }
    }
    const passed = checkpoints.filter((text) => (parseCheckpointLine(text)?.seq ?? 0) > begin.seq);
    const report = await verifyChain({ node, keys, begin, rows: rows(), stored: passed });
    if (!report.ok) return report;
    chains.push(report);
  }
  return Object.freeze({ ok: true, chains: Object.freeze(chains) });
}

const BROKEN: Line = Object.freeze({ kind: "broken" });

function readLine(text: string, keys: CheckpointKeys): Line {
  try {
    const event = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return event["type"] === CHECKPOINT_TYPE ? readCheckpoint(event, keys) : readRow(event, text);
  } catch {
    return BROKEN;
  }
}

function readCheckpoint({ data }: Readonly<Record<string, unknown>>, keys: CheckpointKeys): Line {
  const text = canonical(data);
  const checkpoint = parseCheckpointLine(text);
  if (checkpoint === undefined) return BROKEN;
  // INVARIANT: only a good signature moves the beginning of a chain.
  const begin = checkSignature(checkpoint, keys) === undefined ? checkpoint.begin : WHOLE_CHAIN;
  return { kind: "checkpoint", node: checkpoint.node, text, begin };
}

function readRow(event: Readonly<Record<string, unknown>>, text: string): Line {
  const { chainhash: hash, chainnode: node, chainprevious: previousHash, chainseq: seq, time } = event;
  const isSound =
    typeof node === "string" &&
    typeof time === "string" &&
    Number.isSafeInteger(seq) &&
    isHash(hash) &&
    isHash(previousHash);
  if (!isSound) return BROKEN;
  const place = { chainhash: hash, chainnode: node, chainprevious: previousHash, chainseq: seq };
  const front = `${canonical(place).slice(0, -1)},`;
  if (!text.startsWith(front)) return BROKEN;
  const body = `{${text.slice(front.length)}`;
  return { kind: "row", node, row: { node, seq: seq as number, time, previousHash, body, hash } };
}
