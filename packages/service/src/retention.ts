/**
 * Removes old events of one chain: a person's act, on record like any other. The chain is verified first, so that
 * nothing which was tampered with is tidied away; a signed checkpoint then says where the chain begins from now on, and
 * only what lies before it goes. Whoever deletes rows without such a checkpoint is found by `verify`.
 */
import type { EventRow } from "./audit/event-chain.ts";
import { headOf } from "./audit/event-chain.ts";
import { chainTextRow, checkpointRow } from "./audit/stored-chain.ts";
import { verifyStoredChain } from "./audit/verify-log.ts";
import type { CallerContext } from "./caller-context.ts";
import type { CheckpointWriter } from "./checkpoint-writer.ts";
import type { NodeParts } from "./node-parts.ts";
import { actorOf, policyEvent } from "./policy-event.ts";
import { requireAuthority } from "./require-authority.ts";
import { watchedAct } from "./watched.ts";

export type RetainWords = {
  /** This node's chain unless said. That of another node only once it is gone: its own process writes it. */
  readonly node?: string | undefined;
  readonly reason?: string | undefined;
} & ({ readonly olderThanMs: number } | { readonly keepRows: number });

export interface Retained {
  readonly ok: true;
  readonly node: string;
  readonly removed: number;
  /** The first row that is kept. */
  readonly firstSeq: number;
}

export interface RetentionRefusal {
  readonly ok: false;
  readonly code: "no_signer" | "invalid_words" | "node_live" | "chain_fault" | "not_found";
  readonly message: string;
}

export function retainEvents(
  parts: NodeParts,
  caller: CallerContext,
  words: RetainWords,
): Promise<Retained | RetentionRefusal> {
  return watchedAct(parts, "retain_events", () => retained(parts, caller, words));
}

async function retained(
  parts: NodeParts,
  caller: CallerContext,
  words: RetainWords,
): Promise<Retained | RetentionRefusal> {
  await requireAuthority(parts, caller, "retain_events");
  const { checkpoints, store, audit } = parts;
  const node = words.node ?? parts.nodeId;
  if (checkpoints === null)
    return refused("no_signer", "nobody signs checkpoints here: give the service a signer, then try again");
  if (!isSound(words))
    return refused("invalid_words", "give either a whole number `olderThanMs` or `keepRows` of at least 1");
  if (await isLiveElsewhere(parts, node))
    return refused("node_live", `node \`${node}\` is live: let it remove its own events, or stop it first`);
  await audit.flush();
  const report = await verifyStoredChain(store, node, checkpoints.evidence);
  if (!report.ok) return refused("chain_fault", `nothing was removed: ${report.message}`);
  const kept = await firstKept(parts, node, words);
  if (kept === null) return refused("not_found", `node \`${node}\` has no events: name one that has`);
  const { row, firstSeq } = kept;
  if (row.seq <= firstSeq) return Object.freeze({ ok: true, node, removed: 0, firstSeq });
  const removed = await shorten(parts, checkpoints, caller, { row, firstSeq, reason: words.reason ?? null });
  return Object.freeze({ ok: true, node, removed, firstSeq: row.seq });
}

interface Cut {
  readonly row: EventRow;
  readonly firstSeq: number;
  readonly reason: string | null;
}

async function shorten(
  { audit, newId }: NodeParts,
  checkpoints: CheckpointWriter,
  caller: CallerContext,
  { row, firstSeq, reason }: Cut,
): Promise<number> {
  const { node } = row;
  const begin = { seq: row.seq - 1, hash: row.previousHash };
  let removed = 0;
  await checkpoints.shorten({
    node,
    begin,
    first: () =>
      audit.transaction(async (_, record) => {
        record(
          policyEvent(audit.stamp(), {
            type: "policy.changed",
            action: "retain_events",
            actionId: newId("action"),
            actor: actorOf(caller),
            tuple: null,
            requestId: null,
            reason,
            before: { node, first_seq: firstSeq },
            after: { node, first_seq: row.seq, time: row.time },
          }),
        );
      }),
    also: async (tx) => {
      // WHY: the store gives up rows only before one that a checkpoint stands at.
      await tx.checkpoints.insert(checkpointRow(checkpoints.signAt(headOf(row), begin)));
      removed = await tx.events.deleteBefore(node, row.seq);
    },
  });
  return removed;
}

async function firstKept(
  { store, clock }: NodeParts,
  node: string,
  words: RetainWords,
): Promise<{ readonly row: EventRow; readonly firstSeq: number } | null> {
  return store.read(async (tx) => {
    const first = await tx.events.firstOf(node);
    const last = await tx.events.lastOf(node);
    if (first === null || last === null) return null;
    const wanted =
      "keepRows" in words
        ? last.seq - words.keepRows + 1
        : (await tx.events.lastBefore(node, clock.nowMs() - words.olderThanMs)) + 1;
    // INVARIANT: the head of a chain stays, so that it goes on from where it was.
    const seq = Math.max(first.seq, Math.min(wanted, last.seq));
    const [row] = await tx.events.chain(node, { from: seq, to: seq, limit: 1 });
    return row === undefined ? null : { row: chainTextRow(node, row), firstSeq: first.seq };
  });
}

async function isLiveElsewhere({ store, nodeId }: NodeParts, node: string): Promise<boolean> {
  if (node === nodeId) return false;
  return store.read(async (tx) => (await tx.nodes.listLive(await tx.nowMs())).some(({ id }) => id === node));
}

function isSound(words: RetainWords): boolean {
  const { olderThanMs, keepRows } = words as { readonly olderThanMs?: unknown; readonly keepRows?: unknown };
  if (keepRows === undefined) return Number.isSafeInteger(olderThanMs) && (olderThanMs as number) >= 0;
  return olderThanMs === undefined && Number.isSafeInteger(keepRows) && (keepRows as number) >= 1;
}

function refused(code: RetentionRefusal["code"], message: string): RetentionRefusal {
  return Object.freeze({ ok: false, code, message });
}
