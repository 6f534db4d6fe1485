/**
 * The audit log for persons with authority: verify, follow, export, remove old events. Authority comes first, and an
 * attempt without it is on record. Searching is `list.events`.
 */
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ChainReport } from "./audit/verify-chain.ts";
import type { Feed } from "./audit/anchor-feed.ts";
import type { CheckpointKeys, SignedCheckpoint } from "./audit/checkpoint.ts";
import { exportEvents } from "./audit/export-events.ts";
import { type LogEvidence, type LogReport, verifyLog, verifyStoredChain } from "./audit/verify-log.ts";
import type { CallerContext } from "./caller-context.ts";
import { type FollowWords, type Followed, followEvents } from "./follow-events.ts";
import type { NodeParts } from "./node-parts.ts";
import { requireAuthority } from "./require-authority.ts";
import { type RetainWords, type Retained, type RetentionRefusal, retainEvents } from "./retention.ts";

export interface VerifyWords {
  /** Public keys; those of the service unless said. */
  readonly keys?: CheckpointKeys | undefined;
  /** Lines of the checkpoint export, read more than once; what the service's own sink kept unless said. */
  readonly exported?: (() => Feed<string>) | undefined;
}

export class AuditTrail {
  readonly #parts: NodeParts;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** Every chain that the store or the export knows of. Names the first bad row. */
  async verify(caller: CallerContext, words: VerifyWords = {}): Promise<LogReport> {
    const evidence = await this.#evidence(caller, words);
    return verifyLog(this.#parts.store, evidence);
  }

  async verifyNode(caller: CallerContext, node: string, words: VerifyWords = {}): Promise<ChainReport> {
    const evidence = await this.#evidence(caller, words);
    return verifyStoredChain(this.#parts.store, node, evidence);
  }

  /** A checkpoint now. `null`: the last one covers everything, or nobody signs here. */
  async checkpoint(caller: CallerContext): Promise<SignedCheckpoint | null> {
    await this.#readable(caller);
    return (await this.#parts.checkpoints?.make()) ?? null;
  }

  retain(caller: CallerContext, words: RetainWords): Promise<Retained | RetentionRefusal> {
    return retainEvents(this.#parts, caller, words);
  }

  /** Ends with its signal, with the service, and with a fault of the store: go on from the last cursor. */
  async follow(caller: CallerContext, words: FollowWords = {}): Promise<AsyncGenerator<Followed>> {
    await this.#readable(caller);
    return followEvents(this.#parts, words);
  }

  /** Lines without their break. */
  async export(caller: CallerContext): Promise<AsyncGenerator<string>> {
    await this.#readable(caller);
    return exportEvents(this.#parts.store);
  }

  /** Ends the writable. Waits where it is slow. */
  async exportTo(caller: CallerContext, to: Writable): Promise<void> {
    const lines = await this.export(caller);
    await pipeline(Readable.from(broken(lines)), to);
  }

  async #evidence(caller: CallerContext, words: VerifyWords): Promise<LogEvidence> {
    await this.#readable(caller);
    const own = this.#parts.checkpoints?.evidence;
    return { keys: words.keys ?? own?.keys ?? new Map(), exported: words.exported ?? own?.exported };
  }

  /** Everything that was recorded on this node before the call is in reach of it. */
  async #readable(caller: CallerContext): Promise<void> {
    await requireAuthority(this.#parts, caller, "list");
    await this.#parts.audit.flush();
  }
}

async function* broken(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
