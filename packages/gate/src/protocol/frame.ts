/**
 * Frames: four bytes of length, then that many bytes of UTF-8 text. Trusts nothing that comes in.
 * INVARIANT: a decoder holds one frame at most, and no more bytes than have really arrived, twice.
 */
import { Buffer } from "node:buffer";
import { GateFault } from "./gate-fault.ts";

const HEADER_BYTES = 4;
const FIRST_BYTES = 4096;

export function encodeFrame(text: string, bytesMax: number): Buffer {
  const length = Buffer.byteLength(text);
  if (length === 0 || length > bytesMax) throw new GateFault("oversized_frame");
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32BE(length, 0);
  frame.write(text, HEADER_BYTES, "utf8");
  return frame;
}

export class FrameDecoder {
  readonly #bytesMax: number;
  readonly #text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerFilled = 0;
  #length = 0;
  #body: Buffer = Buffer.alloc(0);
  #filled = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** A frame was begun and is not whole yet. */
  get isInside(): boolean {
    return this.#headerFilled > 0;
  }

  /** Bytes that are kept for the frame under way. */
  get heldBytes(): number {
    return this.#body.length;
  }

  /** The frames that end in this chunk. Throws a {@link GateFault}; a decoder that threw is used up. */
  *push(chunk: Uint8Array): Generator<string, void, undefined> {
    for (let at = 0; at < chunk.length;) {
      if (this.#headerFilled < HEADER_BYTES) {
        this.#header[this.#headerFilled++] = chunk[at++] as number;
        if (this.#headerFilled === HEADER_BYTES) this.#begin();
        continue;
      }
      const taken = Math.min(this.#length - this.#filled, chunk.length - at);
      this.#append(chunk.subarray(at, at + taken));
      at += taken;
      if (this.#filled === this.#length) yield this.#end();
    }
  }

  #begin(): void {
    this.#length = this.#header.readUInt32BE(0);
    if (this.#length > this.#bytesMax) throw new GateFault("oversized_frame");
    if (this.#length === 0) throw new GateFault("malformed_frame");
  }

  /** WHY: grows with what has come, so that a length that is only claimed costs nothing. */
  #append(bytes: Uint8Array): void {
    const needed = this.#filled + bytes.length;
    if (needed > this.#body.length) {
      const size = Math.min(this.#length, Math.max(needed, this.#body.length * 2, FIRST_BYTES));
      const grown = Buffer.allocUnsafe(size);
      this.#body.copy(grown, 0, 0, this.#filled);
      this.#body = grown;
    }
    this.#body.set(bytes, this.#filled);
    this.#filled = needed;
  }

  #end(): string {
    const bytes = this.#body.subarray(0, this.#filled);
    this.#body = Buffer.alloc(0);
    this.#filled = 0;
    this.#headerFilled = 0;
    try {
      return this.#text.decode(bytes);
    } catch {
      throw new GateFault("malformed_frame");
    }
  }
}
