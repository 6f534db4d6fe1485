/**
 * The frames that a client sends after a websocket handshake: where a message begins. Frames of clients are masked; what
 * is not is no frame. As long as there was none, the server may have refused the handshake, and a request may follow.
 */
import { bare, freeze } from "../captured.ts";

export type FrameStep =
  | { readonly kind: "pass" }
  | { readonly kind: "partial"; readonly at: number }
  | { readonly kind: "message"; readonly at: number }
  | { readonly kind: "unknown"; readonly at: number }
  /** A request in place of the first frame. */
  | { readonly kind: "request" };

const PASS = freeze(bare({ kind: "pass" as const }));
const REQUEST = freeze(bare({ kind: "request" as const }));
const FINAL = 0x80;
const MASKED = 0x80;
const RESERVED = 0x30;
const CLOSE = 8;
const PONG = 10;
const SIZE_16 = 126;
const SIZE_64 = 127;

export class FrameReader {
  #left = 0;
  #isFirst = true;
  /** A message was begun and not ended. */
  #isOpen = false;
  /** Where the frame was reported whose message is not counted yet. */
  #isReported = false;

  next(bytes: Uint8Array, from: number): FrameStep {
    let at = from;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = this.#left < bytes.length - at ? this.#left : bytes.length - at;
        this.#left -= taken;
        at += taken;
        continue;
      }
      const size = headSize(bytes, at);
      if (size === 0) return freeze(bare({ kind: "partial" as const, at }));
      const first = bytes[at] as number;
      if (!this.#fits(first, bytes[at + 1] as number))
        return this.#isFirst ? REQUEST : freeze(bare({ kind: "unknown" as const, at }));
      if (opcodeOf(first) !== 0 && opcodeOf(first) < CLOSE && !this.#isReported) {
        this.#isReported = true;
        return freeze(bare({ kind: "message" as const, at }));
      }
      this.#take(first, payloadSize(bytes, at));
      at += size;
    }
    return PASS;
  }

  #fits(first: number, second: number): boolean {
    const opcode = opcodeOf(first);
    if ((second & MASKED) === 0 || (first & RESERVED) !== 0) return false;
    if (opcode >= CLOSE) return opcode <= PONG && (first & FINAL) !== 0;
    return opcode <= 2 && (opcode === 0) === this.#isOpen;
  }

  #take(first: number, size: number): void {
    this.#isFirst = false;
    this.#isReported = false;
    this.#left = size;
    if (opcodeOf(first) < CLOSE) this.#isOpen = (first & FINAL) === 0;
  }
}
// WHY: whoever got hold of one would read for all.
freeze(FrameReader.prototype);

function opcodeOf(first: number): number {
  return first & 0x0f;
}

/** Bytes before the payload; 0 where they are not all there. */
function headSize(bytes: Uint8Array, at: number): number {
  if (at + 1 >= bytes.length) return 0;
  const second = bytes[at + 1] as number;
  // WHY: what is not masked is no frame, whatever its length; it is told at once.
  if ((second & MASKED) === 0) return 2;
  const short = second & 0x7f;
  const size = 2 + 4 + (short === SIZE_16 ? 2 : short === SIZE_64 ? 8 : 0);
  return at + size <= bytes.length ? size : 0;
}

function payloadSize(bytes: Uint8Array, at: number): number {
  const short = (bytes[at + 1] as number) & 0x7f;
  if (short < SIZE_16) return short;
  let size = 0;
  const end = at + 2 + (short === SIZE_16 ? 2 : 8);
  for (let index = at + 2; index < end; index++) size = size * 256 + (bytes[index] as number);
  return size;
}
