/**
 * Writes signed checkpoints of this node's chain: every so many rows, every so many seconds in which rows were written,
 * and at the end. A checkpoint is exported first and stored then, so that what the store keeps is known outside.
 * INVARIANT: signs what this process wrote, not what the store says it wrote, wherever it remembers it.
 * A checkpoint that cannot be written is told to the host and tried again; the log goes on without it.
 */
import type { KeyObject } from "node:crypto";
import { createPublicKey } from "node:crypto";
import type { AccessStore, StoreTransaction } from "@sallyport/store";
import type { AuditLog } from "./audit-log.ts";
import type { CheckpointSink } from "./audit/checkpoint-sink.ts";
import {
  type ChainBegin,
  type CheckpointKeys,
  type CheckpointSigner,
  type SignedCheckpoint,
  checkpointKeys,
  checkpointLine,
  signCheckpoint,
} from "./audit/checkpoint.ts";
import { type ChainHead, headOf } from "./audit/event-chain.ts";
import { chainRow, checkpointRow, lastHead } from "./audit/stored-chain.ts";
import { type LogEvidence, beginOf } from "./audit/verify-log.ts";
import { type NodeClock, timestampOf } from "./node-clock.ts";
import { Turn } from "./turn.ts";

export interface CheckpointOptions {
  readonly signer: CheckpointSigner;
  /** Public keys of other nodes and of former signers. This signer's own is known. */
  readonly publicKeys?: Iterable<KeyObject> | undefined;
  readonly exportTo?: CheckpointSink | undefined;
  /** 10 000 unless said. */
  readonly everyRows?: number | undefined;
  /** 60 000 unless said. */
  readonly everyMs?: number | undefined;
}

export interface CheckpointWriterParts extends CheckpointOptions {
  readonly store: AccessStore;
  readonly nodeId: string;
  readonly clock: NodeClock;
  readonly audit: AuditLog;
  readonly faulted: (error: unknown) => void;
}

/** A checkpoint that says where a chain begins from now on. */
export interface Shortening {
  readonly node: string;
  readonly begin: ChainBegin;
  /** Puts the reason on record; the checkpoint covers it. */
  readonly first: () => Promise<void>;
  /** In the transaction that stores the checkpoint. */
  readonly also: (tx: StoreTransaction, signed: SignedCheckpoint) => Promise<void>;
}

const EVERY_ROWS = 10_000;
const EVERY_MS = 60_000;

export class CheckpointWriter {
  readonly keys: CheckpointKeys;
  readonly #parts: CheckpointWriterParts;
  readonly #turn = new Turn();
  #begin: ChainBegin | null = null;
  #rows = 0;
  #timer: NodeJS.Timeout | null = null;
  #unlisten: () => void = () => undefined;

  constructor(parts: CheckpointWriterParts) {
    this.#parts = parts;
    const own = createPublicKey(parts.signer.privateKey);
    this.keys = checkpointKeys([own, ...(parts.publicKeys ?? [])]);
  }

  get evidence(): LogEvidence {
    const { exportTo } = this.#parts;
    const lines = exportTo?.lines?.bind(exportTo);
    return lines === undefined ? { keys: this.keys } : { keys: this.keys, exported: lines };
  }

  start(): void {
    this.#unlisten = this.#parts.audit.onAppend((rows) => this.#count(rows));
    this.#timer = setInterval(() => {
      if (this.#rows > 0) this.#makeSoon();
    }, this.#parts.everyMs ?? EVERY_MS).unref();
  }

  /** One last checkpoint, so that nothing behind it can be cut unnoticed while no process looks. */
  async close(): Promise<void> {
    this.#unlisten();
    if (this.#timer !== null) clearInterval(this.#timer);
    try {
      await this.make();
    } finally {
      await this.#parts.exportTo?.close?.();
    }
  }

  /** `null`: the last checkpoint covers everything. */
  make(): Promise<SignedCheckpoint | null> {
    return this.#turn.run(async () => {
      const { store, nodeId, audit } = this.#parts;
      const head = audit.head ?? (await store.read((tx) => lastHead(tx, nodeId)));
      const last = await store.read((tx) => tx.checkpoints.latestOf(nodeId));
      this.#rows = 0;
      if (head.seq === 0 || last?.seq === head.seq) return null;
      this.#begin ??= await beginOf(store, nodeId, { keys: this.keys });
      return this.#write(await this.#signed(head, this.#begin));
    });
  }

  /** A checkpoint at the head of a chain that gives it another beginning. */
  shorten({ node, begin, first, also }: Shortening): Promise<SignedCheckpoint> {
    return this.#turn.run(async () => {
      await first();
      const { store, nodeId, audit } = this.#parts;
      const known = node === nodeId ? audit.head : null;
      const head = known ?? (await store.read((tx) => lastHead(tx, node)));
      const signed = await this.#write(await this.#signed(head, begin), also);
      if (node === nodeId) this.#begin = begin;
      return signed;
    });
  }

  /** For the store alone: it keeps no row that no checkpoint stands at. */
  signAt(head: ChainHead, begin: ChainBegin): SignedCheckpoint {
    const time = timestampOf(this.#parts.clock.nowMs());
    return signCheckpoint({ ...head, time, begin, heads: [] }, this.#parts.signer);
  }

  async #signed(head: ChainHead, begin: ChainBegin): Promise<SignedCheckpoint> {
    const { store, clock, signer } = this.#parts;
    const others =
      store.engine === "sqlite"
        ? []
        : (await store.read((tx) => tx.events.heads())).filter((row) => row.node !== head.node);
    const heads = others.map((row) => headOf(chainRow(row)));
    const { node, seq, hash } = head;
    return signCheckpoint({ node, seq, hash, time: timestampOf(clock.nowMs()), begin, heads }, signer);
  }

  async #write(signed: SignedCheckpoint, also?: Shortening["also"]): Promise<SignedCheckpoint> {
    const { store, exportTo } = this.#parts;
    await exportTo?.write(checkpointLine(signed));
    await store.transaction(async (tx) => {
      await tx.checkpoints.insert(checkpointRow(signed));
      await also?.(tx, signed);
    });
    return signed;
  }

  #count(rows: number): void {
    this.#rows += rows;
    if (this.#rows >= (this.#parts.everyRows ?? EVERY_ROWS)) this.#makeSoon();
  }

  #makeSoon(): void {
    this.#rows = 0;
    this.make().catch((error: unknown) => {
      // WHY: the rows since the last one still wait for a checkpoint.
      this.#rows += 1;
      this.#parts.faulted(error);
    });
  }
}
