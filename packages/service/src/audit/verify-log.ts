/**
 * The verifier of a stored log: one chain or all of them, against the checkpoints that the store keeps, those that were
 * exported, and what the other nodes say. Trusts the public keys and whoever kept the export; nothing in the store.
 */
import type { AccessStore } from "@sallyport/store";
import type { Feed } from "./anchor-feed.ts";
import type { ChainFault } from "./chain-fault.ts";
import {
  type ChainBegin,
  type CheckpointKeys,
  WHOLE_CHAIN,
  checkSignature,
  headsOf,
  parseCheckpointLine,
} from "./checkpoint.ts";
import { type ChainHead, linksTo } from "./event-chain.ts";
import { chainRow, storedCheckpoints, storedPages, storedRows } from "./stored-chain.ts";
import { type ChainReport, type ChainSound, verifyChain } from "./verify-chain.ts";

export interface LogEvidence {
  readonly keys: CheckpointKeys;
  /** Lines of the checkpoint export, of any nodes, oldest first; read more than once. */
  readonly exported?: (() => Feed<string>) | undefined;
}

export interface LogSound {
  readonly ok: true;
  readonly chains: readonly ChainSound[];
}

export type LogReport = LogSound | ChainFault;

const ROUNDS_MAX = 3;

/** Every chain that the store or the export knows of. The first fault is the answer. */
export async function verifyLog(store: AccessStore, evidence: LogEvidence): Promise<LogReport> {
  const chains: ChainSound[] = [];
  for (const node of await nodesOf(store, evidence)) {
    const report = await verifyStoredChain(store, node, evidence);
    if (!report.ok) return report;
    chains.push(report);
  }
  return Object.freeze({ ok: true, chains: Object.freeze(chains) });
}

export async function verifyStoredChain(
  store: AccessStore,
  node: string,
  evidence: LogEvidence,
): Promise<ChainReport> {
  for (let round = 1; ; round++) {
    const report = await verifyOnce(store, node, evidence);
    if (report.ok || report.reason !== "cut" || round === ROUNDS_MAX) return report;
    // WHY: a checkpoint may have been made after the last page of rows was read. What was really cut is not there now.
    const last = await store.read((tx) => tx.events.lastOf(node));
    if (last === null || last.seq < report.seq) return report;
  }
}

async function verifyOnce(store: AccessStore, node: string, evidence: LogEvidence): Promise<ChainReport> {
  const { keys, exported } = evidence;
  const begin = await beginOf(store, node, evidence);
  const first = await store.read((tx) => tx.events.firstOf(node));
  // WHY: rows that should be gone and are not (the process died in between) are good if they lead to where the chain
  // is said to begin; nobody can make up rows that do.
  const isBefore = first !== null && first.seq > 1 && first.seq <= begin.seq;
  const isWhole = first !== null && first.seq <= 1;
  const start: ChainBegin = isBefore
    ? { seq: first.seq - 1, hash: chainRow(first).previousHash }
    : isWhole
      ? WHOLE_CHAIN
      : begin;
  const others = (await nodesOf(store, evidence)).filter((other) => other !== node);
  return verifyChain({
    node,
    keys,
    begin: start,
    rows: storedPages(store, node, { from: Number.MIN_SAFE_INTEGER }),
    checkpoints: exported?.() ?? [],
    exportOf: "all_nodes",
    stored: storedCheckpoints(store, node),
    links: [
      begin.seq > start.seq ? [{ node, ...begin }] : [],
      ...others.flatMap((other) => linksOf(store, node, other, evidence)),
    ],
  });
}

function linksOf(
  store: AccessStore,
  node: string,
  other: string,
  { keys, exported }: LogEvidence,
): readonly Feed<ChainHead>[] {
  return [
    linksTo(node, storedRows(store, other, { from: Number.MIN_SAFE_INTEGER })),
    headsOf(node, storedCheckpoints(store, other), keys),
    ...(exported === undefined ? [] : [headsOf(node, onlyOf(other, exported()), keys)]),
  ];
}

async function* onlyOf(node: string, lines: Feed<string>): AsyncGenerator<string> {
  for await (const line of lines) if (parseCheckpointLine(line)?.node === node) yield line;
}

/** INVARIANT: only a good signature moves the beginning of a chain. */
export async function beginOf(
  store: AccessStore,
  node: string,
  { keys, exported }: LogEvidence,
): Promise<ChainBegin> {
  let begin = WHOLE_CHAIN;
  const sources = [storedCheckpoints(store, node), ...(exported === undefined ? [] : [exported()])];
  for (const source of sources) {
    for await (const line of source) {
      const checkpoint = parseCheckpointLine(line);
      if (checkpoint === undefined || checkpoint.node !== node || checkpoint.begin.seq <= begin.seq) continue;
      if (checkSignature(checkpoint, keys) === undefined) begin = checkpoint.begin;
    }
  }
  return begin;
}

async function nodesOf(store: AccessStore, { exported }: LogEvidence): Promise<readonly string[]> {
  const known = await store.read(async (tx) => [
    ...(await tx.events.heads()).map(({ node }) => node),
    ...(await tx.checkpoints.nodes()),
  ]);
  const nodes = new Set(known);
  if (exported !== undefined) {
    for await (const line of exported()) {
      const checkpoint = parseCheckpointLine(line);
      if (checkpoint !== undefined) nodes.add(checkpoint.node);
    }
  }
  return [...nodes].toSorted();
}
