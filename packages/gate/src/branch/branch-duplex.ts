/**
 * One end of a branch as a stream of bytes: the gate of a program that a guarded process started, carried by the gate of
 * that process. One chunk is under way at a time, so that what waits is bounded by what the other side has taken.
 * Trusts whoever hands the messages in to have read them; a message that has no place ends the branch.
 */
import { Duplex } from "node:stream";
import { BRANCH_CHUNK_BYTES } from "../protocol/bounds.ts";
import type { BranchMessage } from "../protocol/message.ts";

export class BranchDuplex extends Duplex {
  readonly #branch: number;
  readonly #post: (message: BranchMessage) => void;
  #rest: Uint8Array | undefined;
  #sent: (() => void) | undefined;
  #isOwed = false;
  #isEnded = false;

  constructor(branch: number, post: (message: BranchMessage) => void) {
    super();
    this.#branch = branch;
    this.#post = post;
  }

  hear(message: BranchMessage): void {
    switch (message.kind) {
      case "branch_bytes":
        if (this.#isOwed) {
          this.destroy();
          return;
        }
        this.#isOwed = true;
        if (this.push(Buffer.from(message.bytes, "base64"))) this._read();
        return;
      case "branch_taken":
        this.#next();
        return;
      case "branch_end":
        this.#isEnded = true;
        this.push(null);
    }
  }

  override _read(): void {
    if (!this.#isOwed) return;
    this.#isOwed = false;
    this.#post({ kind: "branch_taken", branch: this.#branch });
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#rest = chunk;
    this.#sent = done;
    this.#next();
  }

  override _final(done: () => void): void {
    this.#end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#end();
    done(error);
  }

  /** The next part of what is written; where nothing is left, the write is over. */
  #next(): void {
    const rest = this.#rest;
    if (rest === undefined || rest.length === 0) {
      const sent = this.#sent;
      this.#rest = undefined;
      this.#sent = undefined;
      sent?.();
      return;
    }
    this.#rest = rest.subarray(BRANCH_CHUNK_BYTES);
    const bytes = Buffer.from(rest.subarray(0, BRANCH_CHUNK_BYTES)).toString("base64");
    this.#post({ kind: "branch_bytes", branch: this.#branch, bytes });
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#post({ kind: "branch_end", branch: this.#branch });
  }
}
