/**
 * The writer of this node's chain in the store. Events of a transaction are appended inside it, so that neither is
 * there without the other; events of checks are written in batches that share one transaction, with waiters where
 * the answer must not come first. Everything that writes goes through one turn: a chain has one end.
 * INVARIANT: `writable` is false from the first batch that could not be written until one is written again.
 */
import type { AccessStore, EventRow as StoredEvent, StoreReader, StoreTransaction } from "@sallyport/store";
import type { EventStamp, UnchainedEvent } from "./access-events.ts";
import type { CheckpointKeys } from "./audit/checkpoint.ts";
import { type ChainHead, type EventRow, genesisOf, headOf, nextRow } from "./audit/event-chain.ts";
import { type ChainReport, verifyChain } from "./audit/verify-chain.ts";
import { type NewId, type NodeClock, timestampOf } from "./node-clock.ts";
import { Turn } from "./turn.ts";

export interface AuditLogOptions {
  readonly store: AccessStore;
  readonly nodeId: string;
  readonly clock: NodeClock;
  readonly newId: NewId;
  readonly maskingKey: Uint8Array;
  /** How long a plain allow may wait to be written; 1000 unless said. That much can be lost with the process. */
  readonly batchAgeMs?: number | undefined;
  /** How many plain allows may wait to be written; 10 000 unless said. */
  readonly bufferMax?: number | undefined;
}

interface Waiting {
  readonly event: UnchainedEvent;
  readonly written: (() => void) | null;
  readonly failed: ((error: unknown) => void) | null;
}

const BATCH_MAX = 500;
const LINK_EVERY_MS = 10_000;
const VERIFY_PAGE = 1000;

export type RecordEvent = (event: UnchainedEvent) => void;

export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #turn = new Turn();
  #buffer: Waiting[] = [];
  #head: ChainHead | null = null;
  #writable = true;
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;
  #linkedMs = Number.NEGATIVE_INFINITY;
  #closed = false;
  /** Plain allows that found no room while the log could not be written. */
  lost = 0;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  get writable(): boolean {
    return this.#writable;
  }

  stamp(): EventStamp {
    const { newId, nodeId, clock, maskingKey } = this.#options;
    return { id: newId("event"), nodeId, timeMs: clock.nowMs(), maskingKey };
  }

  /** Events given to `record` are in the log exactly if the transaction is committed. */
  transaction<T>(work: (tx: StoreTransaction, record: RecordEvent) => Promise<T>): Promise<T> {
    return this.#turn.run(async () => {
      let head: ChainHead | null = null;
      try {
        const result = await this.#options.store.transaction(async (tx) => {
          // WHY: the work may run again after a deadlock, and then its events are new.
          const events: UnchainedEvent[] = [];
          const value = await work(tx, (event) => events.push(event));
          head = await this.#append(tx, events);
          return value;
        });
        this.#head = head;
        return result;
      } catch (error) {
        // WHY: whether a commit that failed took effect may be unknown; the store knows the end of the chain.
        this.#head = null;
        throw error;
      }
    });
  }

  /** Written soon. Lost, and counted, where the log cannot be written and no room is left. */
  record(event: UnchainedEvent): void {
    if (this.#buffer.length >= (this.#options.bufferMax ?? 10_000)) {
      this.lost += 1;
      return;
    }
    this.#buffer.push({ event, written: null, failed: null });
    if (this.#buffer.length >= BATCH_MAX) this.#flushSoon(0);
    else this.#flushSoon(this.#options.batchAgeMs ?? 1000);
  }

  /** Resolves when the event is durable. Those that come together are written together. */
  recordDurably(event: UnchainedEvent): Promise<void> {
    return new Promise((written, failed) => {
      this.#buffer.push({ event, written, failed });
      this.#flush().catch(() => undefined);
    });
  }

  /** Everything that was recorded is durable when this resolves. */
  async flush(): Promise<void> {
    while (this.#buffer.length > 0) await this.#flush();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.flush();
  }

  /** Reads the whole chain of a node from the store; this one's unless said. */
  verify(keys: CheckpointKeys = new Map(), node: string = this.#options.nodeId): Promise<ChainReport> {
    return verifyChain({ node, keys, rows: storedRows(this.#options.store, node) });
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#writeBatch().finally(() => {
      this.#flushing = null;
      if (this.#buffer.some((waiting) => waiting.written !== null)) this.#flush().catch(() => undefined);
    });
    return this.#flushing;
  }

  async #writeBatch(): Promise<void> {
    // WHY: whoever records in this moment of the event loop comes along.
    await Promise.resolve();
    const batch = this.#buffer.splice(0, BATCH_MAX);
    if (batch.length === 0 && this.#writable) return;
    try {
      await this.transaction(async (tx, record) => {
        for (const { event } of batch) record(event);
        // WHY: a log that only ever had waiters has nothing to try again with; this writes a row of its own.
        if (batch.length === 0) await tx.nodes.confirm(this.#options.nodeId, 0);
      });
    } catch (error) {
      this.#writable = false;
      // INVARIANT: nobody who waits is told that it was written, and nothing plain is lost while there is room.
      this.#buffer.unshift(...batch.filter((waiting) => waiting.written === null));
      for (const { failed } of batch) failed?.(error);
      this.#flushSoon(this.#options.batchAgeMs ?? 1000);
      throw error;
    }
    this.#writable = true;
    for (const { written } of batch) written?.();
  }

  #flushSoon(afterMs: number): void {
    if (this.#closed || (this.#timer !== null && afterMs > 0)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#flush()
        .catch(() => undefined)
        .finally(() => {
          if (this.#buffer.length > 0 || !this.#writable) this.#flushSoon(this.#options.batchAgeMs ?? 1000);
        });
    }, afterMs);
    this.#timer.unref();
  }

  async #append(tx: StoreTransaction, events: readonly UnchainedEvent[]): Promise<ChainHead | null> {
    if (events.length === 0) return this.#head;
    const { nodeId } = this.#options;
    let head = this.#head ?? (await lastHead(tx, nodeId));
    const links = await this.#links(tx);
    const rows: StoredEvent[] = [];
    for (const [index, { envelope, columns }] of events.entries()) {
      const row = nextRow(head, envelope, index === 0 ? links : []);
      rows.push(storedEvent(row, columns));
      head = headOf(row);
    }
    await tx.events.append(rows);
    return head;
  }

  /** Heads of the other chains, now and then: who hashes one chain anew must then do so with all. */
  async #links(tx: StoreTransaction): Promise<readonly ChainHead[]> {
    const { store, clock, nodeId } = this.#options;
    if (store.engine === "sqlite") return [];
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#linkedMs < LINK_EVERY_MS) return [];
    this.#linkedMs = nowMs;
    const heads = await tx.events.heads();
    return heads.filter((row) => row.node !== nodeId).map((row) => headOf(chainRow(row)));
  }
}

async function lastHead(tx: StoreReader, node: string): Promise<ChainHead> {
  const last = await tx.events.lastOf(node);
  return last === null ? genesisOf(node) : headOf(chainRow(last));
}

async function* storedRows(store: AccessStore, node: string): AsyncGenerator<EventRow> {
  for (let from = 1; ; from += VERIFY_PAGE) {
    const span = { from, to: from + VERIFY_PAGE - 1, limit: VERIFY_PAGE };
    const { rows, last } = await store.read(async (tx) => ({
      rows: await tx.events.range(node, span),
      last: await tx.events.lastOf(node),
    }));
    for (const row of rows) yield chainRow(row);
    if (last === null || last.seq < from + VERIFY_PAGE) return;
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** A row of the store as the chain sees it. */
export function chainRow({ node, seq, timeMs, prevHash, body, hash }: StoredEvent): EventRow {
  return { node, seq, time: timestampOf(timeMs), previousHash: hex(prevHash), body, hash: hex(hash) };
}

function storedEvent(row: EventRow, columns: UnchainedEvent["columns"]): StoredEvent {
  return {
    ...columns,
    target: keepable(columns.target),
    sessionKey: keepable(columns.sessionKey),
    node: row.node,
    seq: row.seq,
    body: row.body,
    prevHash: Buffer.from(row.previousHash, "hex"),
    hash: Buffer.from(row.hash, "hex"),
  };
}

/** WHY: a column is only searched by; what no store can keep must not keep the event out of the log. */
function keepable(text: string | null): string | null {
  if (text === null) return null;
  const wellFormed = text as string & { toWellFormed(): string };
  return wellFormed.toWellFormed().replaceAll("\0", "\\u0000");
}
