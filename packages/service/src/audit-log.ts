/**
 * The writer of this node's chain in the store. Events of a transaction are appended inside it, so that neither is
 * there without the other; events of checks are written in batches that share one transaction, with waiters where
 * the answer must not come first. Everything that writes goes through one turn: a chain has one end.
 * INVARIANT: `writable` is false from the first batch that could not be written until one is written again.
 * INVARIANT: whoever waits for a row is answered within `waitMs`, however long the store hangs.
 */
import {
  type AccessStore,
  type EventRow as StoredEvent,
  StoreUnavailableError,
  type StoreTransaction,
} from "@sallyport/store";
import type { EventStamp, UnchainedEvent } from "./access-events.ts";
import type { CheckpointKeys } from "./audit/checkpoint.ts";
import { type ChainHead, headOf, nextRow } from "./audit/event-chain.ts";
import { bytesOfHex, chainRow, lastHead } from "./audit/stored-chain.ts";
import type { ChainReport } from "./audit/verify-chain.ts";
import { verifyStoredChain } from "./audit/verify-log.ts";
import type { NewId, NodeClock } from "./node-clock.ts";
import { storedEvent } from "./stored-event.ts";
import { NO_TELEMETRY, type Telemetry } from "./telemetry.ts";
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
  /** How long an answer may wait for its row; 5000 unless said. */
  readonly waitMs?: number | undefined;
  readonly telemetry?: Telemetry | undefined;
}

interface Waiting {
  readonly event: UnchainedEvent;
  readonly sinceMs: number;
  readonly written: (() => void) | null;
  readonly failed: ((error: unknown) => void) | null;
}

const BATCH_MAX = 500;
const LINK_EVERY_MS = 10_000;
const WAIT_MS = 5000;
const BATCH_AGE_MS = 1000;
const BUFFER_MAX = 10_000;

export type RecordEvent = (event: UnchainedEvent) => void;

export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #turn: Turn;
  readonly #waitMs: number;
  readonly #batchAgeMs: number;
  readonly #bufferMax: number;
  readonly #telemetry: Telemetry;
  readonly #listeners = new Set<(rows: number) => void>();
  readonly #ending = new AbortController();
  #buffer: Waiting[] = [];
  #head: ChainHead | null = null;
  #writable = true;
  #timer: NodeJS.Timeout | null = null;
  #isDueNow = false;
  #flushing: Promise<void> | null = null;
  #linkedMs = Number.NEGATIVE_INFINITY;
  #closed = false;
  /** An answer was given up because the store did not come back in time; until it does nobody else waits. */
  #stalled = false;
  /** Plain allows that found no room while the log could not be written. */
  lost = 0;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#waitMs = options.waitMs ?? WAIT_MS;
    this.#batchAgeMs = options.batchAgeMs ?? BATCH_AGE_MS;
    this.#bufferMax = options.bufferMax ?? BUFFER_MAX;
    this.#turn = new Turn(this.#waitMs);
    this.#telemetry = options.telemetry ?? NO_TELEMETRY;
  }

  get writable(): boolean {
    return this.#writable;
  }

  /** The last row that this process knows to be durable; `null` where the store has to be asked. */
  get head(): ChainHead | null {
    return this.#head;
  }

  /** Aborted when the log is closed. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Told after every commit how many rows it wrote. Must not throw. */
  onAppend(listener: (rows: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stamp(): EventStamp {
    const { newId, nodeId, clock, maskingKey } = this.#options;
    return { id: newId("event"), nodeId, timeMs: clock.nowMs(), maskingKey };
  }

  /** Events given to `record` are in the log exactly if the transaction is committed. */
  transaction<T>(work: (tx: StoreTransaction, record: RecordEvent) => Promise<T>): Promise<T> {
    if (this.#stalled) return Promise.reject(hanging(this.#waitMs));
    return this.#answered(this.#write(work));
  }

  /** INVARIANT: ends when the store has answered and not before, so that nothing is written twice. */
  #write<T>(work: (tx: StoreTransaction, record: RecordEvent) => Promise<T>): Promise<T> {
    return this.#turn.run(async () => {
      let head: ChainHead | null = null;
      let rows = 0;
      try {
        const result = await this.#options.store.transaction(async (tx) => {
          // WHY: the work may run again after a deadlock, and then its events are new.
          const events: UnchainedEvent[] = [];
          const value = await work(tx, (event) => events.push(event));
          head = await this.#append(tx, events);
          rows = events.length;
          return value;
        });
        this.#head = head;
        if (rows > 0) for (const listener of this.#listeners) listener(rows);
        return result;
      } catch (error) {
        // WHY: whether a commit that failed took effect may be unknown; the store knows the end of the chain.
        this.#head = null;
        throw error;
      } finally {
        this.#stalled = false;
      }
    });
  }

  /** The same answer, or none in time. What was begun goes on and may still be written. */
  #answered<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#stall();
        reject(hanging(this.#waitMs));
      }, this.#waitMs);
      const end = (): void => clearTimeout(timer);
      work.then(resolve, reject).then(end, end);
    });
  }

  #stall(): void {
    this.#stalled = true;
    this.#writable = false;
    this.#flushSoon(this.#batchAgeMs);
  }

  /** Written soon. Lost, and counted, where the log cannot be written and no room is left. */
  record(event: UnchainedEvent): void {
    if (this.#buffer.length >= this.#bufferMax) {
      this.lost += 1;
      this.#telemetry.lost();
      return;
    }
    this.#buffer.push({ event, sinceMs: this.#options.clock.monotonicMs(), written: null, failed: null });
    if (this.#buffer.length >= BATCH_MAX) this.#flushSoon(0);
    else this.#flushSoon(this.#batchAgeMs);
  }

  /** Resolves when the event is durable. Those that come together are written together. */
  recordDurably(event: UnchainedEvent): Promise<void> {
    if (this.#stalled) return Promise.reject(hanging(this.#waitMs));
    const sinceMs = this.#options.clock.monotonicMs();
    let waiting: Waiting | null = null;
    const durable = new Promise<void>((written, failed) => {
      waiting = { event, sinceMs, written, failed };
      this.#buffer.push(waiting);
      this.#flush().catch(() => undefined);
    });
    return this.#answered(durable).catch((error: unknown) => {
      // WHY: what was not begun is not on record, and must not be written as an answer that was never given.
      this.#buffer = this.#buffer.filter((held) => held !== waiting);
      throw error;
    });
  }

  /** Everything that was recorded is durable when this resolves. */
  async flush(): Promise<void> {
    while (this.#buffer.length > 0) await this.#flush();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#ending.abort();
    await this.flush();
  }

  /** Reads the whole chain of a node from the store; this one's unless said. */
  verify(keys: CheckpointKeys = new Map(), node: string = this.#options.nodeId): Promise<ChainReport> {
    return verifyStoredChain(this.#options.store, node, { keys });
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
      await this.#write(async (tx, record) => {
        for (const { event } of batch) record(event);
        // WHY: a log that only ever had waiters has nothing to try again with; this writes a row of its own.
        if (batch.length === 0) await tx.nodes.confirm(this.#options.nodeId, 0);
      });
    } catch (error) {
      this.#writable = false;
      // INVARIANT: nobody who waits is told that it was written, and nothing plain is lost while there is room.
      this.#buffer.unshift(...batch.filter((waiting) => waiting.written === null));
      for (const { failed } of batch) failed?.(error);
      this.#flushSoon(this.#batchAgeMs);
      throw error;
    }
    this.#writable = true;
    const [oldest] = batch;
    if (oldest !== undefined)
      this.#telemetry.batch(batch.length, this.#options.clock.monotonicMs() - oldest.sinceMs);
    for (const { written } of batch) written?.();
  }

  #flushSoon(afterMs: number): void {
    // WHY: while many are recorded at once, a timer for each costs more than the record.
    if (this.#closed || (this.#timer !== null && (afterMs > 0 || this.#isDueNow))) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isDueNow = afterMs === 0;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#flush()
        .catch(() => undefined)
        .finally(() => {
          if (this.#buffer.length > 0 || !this.#writable) this.#flushSoon(this.#batchAgeMs);
        });
    }, afterMs);
    this.#timer.unref();
  }

  async #append(tx: StoreTransaction, events: readonly UnchainedEvent[]): Promise<ChainHead | null> {
    if (events.length === 0) return this.#head;
    const { nodeId } = this.#options;
    let head = this.#head ?? (await lastHead(tx, nodeId));
    let links = await this.#links(tx);
    let prevHash = bytesOfHex(head.hash);
    const rows: StoredEvent[] = [];
    for (const { envelope, columns } of events) {
      const row = nextRow(head, envelope, links);
      const stored = storedEvent(row, columns, prevHash);
      rows.push(stored);
      prevHash = stored.hash;
      head = row;
      links = [];
    }
    await tx.events.append(rows);
    return headOf(head);
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

function hanging(waitMs: number): StoreUnavailableError {
  return new StoreUnavailableError(
    `the audit log was not written within ${waitMs} ms: look for what holds the store, then try again`,
    { applied: "unknown" },
  );
}
