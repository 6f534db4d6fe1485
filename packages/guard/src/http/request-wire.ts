/**
 * Follows the bytes that a program sends on one connection: where a request begins, where its body ends, where a
 * websocket message begins. Pure; holds the state of one connection.
 * INVARIANT: no byte of a request passes before its head was reported, and a byte that fits nothing is reported as such.
 */
import { bare, freeze } from "../captured.ts";
import { type RequestHead, isTokenCode, parseHead } from "./request-head.ts";
import { FrameReader } from "./websocket-frames.ts";

export type WireStep =
  /** Everything up to the end of the bytes belongs to what was reported. */
  | { readonly kind: "pass" }
  /** The bytes from `at` on are the beginning of a head; more is needed. */
  | { readonly kind: "partial"; readonly at: number }
  /** A request from `at` to `end`. */
  | { readonly kind: "head"; readonly at: number; readonly end: number; readonly head: RequestHead }
  /** A websocket message begins at `at`. */
  | { readonly kind: "message"; readonly at: number }
  /** From `at` on it is no request. */
  | { readonly kind: "unknown"; readonly at: number };

export const HEAD_BYTES_MAX = 256 * 1024;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const METHOD_MAX = 32;
const SIZE_DIGITS_MAX = 8;

type Phase = "head" | "body" | "size" | "size_end" | "data" | "data_end" | "trailer" | "frames";

const PASS: WireStep = freeze(bare({ kind: "pass" as const }));
const step = (value: WireStep): WireStep => freeze(bare(value));

export class RequestWire {
  #phase: Phase = "head";
  /** Bytes of the body or chunk that are still to come. */
  #left = 0;
  /** Digits of a chunk's size, or characters of a trailer line. */
  #count = 0;
  #sawReturn = false;
  #frames = new FrameReader();
  readonly #textOf: (bytes: Uint8Array, from: number, to: number) => string;

  /** @param textOf one character a byte */
  constructor(textOf: (bytes: Uint8Array, from: number, to: number) => string) {
    this.#textOf = textOf;
  }

  /** The next byte begins a request. */
  get isAtHead(): boolean {
    return this.#phase === "head";
  }

  /** How many of the next bytes belong to a body of known length, whatever they are. */
  get plainLeft(): number {
    return this.#phase === "body" ? this.#left : 0;
  }

  /** Takes bytes of a body of known length. */
  skip(bytes: number): void {
    this.#left -= bytes;
    if (this.#left === 0) this.#phase = "head";
  }

  next(bytes: Uint8Array, from: number): WireStep {
    let at = from;
    while (at < bytes.length) {
      switch (this.#phase) {
        case "head":
          return this.#head(bytes, at);
        case "frames": {
          const found = this.#frames.next(bytes, at);
          if (found.kind !== "request") return found;
          this.#phase = "head";
          break;
        }
        case "body":
        case "data": {
          const taken = this.#left < bytes.length - at ? this.#left : bytes.length - at;
          at += taken;
          this.#left -= taken;
          if (this.#left === 0) this.#phase = this.#phase === "body" ? "head" : "data_end";
          break;
        }
        case "size":
        case "size_end":
        case "data_end":
        case "trailer":
          if (!this.#framing(bytes[at] as number)) return step({ kind: "unknown", at });
          at++;
      }
    }
    return PASS;
  }

  #head(bytes: Uint8Array, at: number): WireStep {
    const end = headEnd(bytes, at);
    if (end < 0) {
      const isLong = bytes.length - at > HEAD_BYTES_MAX;
      return step({ kind: isLong || !mayBegin(bytes, at) ? "unknown" : "partial", at });
    }
    const head = end - at > HEAD_BYTES_MAX ? undefined : parseHead(this.#textOf(bytes, at, end));
    if (head === undefined) return step({ kind: "unknown", at });
    this.#expectBody(head);
    return step({ kind: "head", at, end, head });
  }

  #expectBody({ body, upgrade }: RequestHead): void {
    switch (body.kind) {
      case "none":
        this.#phase = upgrade === "websocket" ? "frames" : "head";
        if (upgrade === "websocket") this.#frames = new FrameReader();
        return;
      case "length":
        this.#phase = "body";
        this.#left = body.bytes;
        return;
      case "chunked":
        this.#phase = "size";
        this.#left = 0;
        this.#count = 0;
    }
  }

  /** One byte between the chunks. False where it does not belong there. */
  #framing(byte: number): boolean {
    if (this.#phase === "size") return this.#size(byte);
    if (this.#phase === "trailer") return this.#trailer(byte);
    if (this.#phase === "size_end") {
      if (byte !== LF) return false;
      this.#phase = this.#left === 0 ? "trailer" : "data";
      this.#count = 0;
      this.#sawReturn = false;
      return true;
    }
    if (byte !== (this.#sawReturn ? LF : CR)) return false;
    if (this.#sawReturn) this.#beginSize();
    else this.#sawReturn = true;
    return true;
  }

  #beginSize(): void {
    this.#phase = "size";
    this.#left = 0;
    this.#count = 0;
    this.#sawReturn = false;
  }

  #size(byte: number): boolean {
    if (byte === CR && this.#count > 0) {
      this.#phase = "size_end";
      return true;
    }
    const digit = hexDigit(byte);
    // WHY: extensions of chunks are refused with all else; readers differ in where they end.
    if (digit < 0 || ++this.#count > SIZE_DIGITS_MAX) return false;
    this.#left = this.#left * 16 + digit;
    return true;
  }

  #trailer(byte: number): boolean {
    if (this.#sawReturn) {
      if (byte !== LF) return false;
      this.#sawReturn = false;
      if (this.#count === 0) this.#phase = "head";
      this.#count = 0;
      return true;
    }
    if (byte === CR) {
      this.#sawReturn = true;
      return true;
    }
    return byte !== LF && byte !== 0 && ++this.#count <= HEAD_BYTES_MAX;
  }
}
// WHY: whoever got hold of one would read for all.
freeze(RequestWire.prototype);

/** Behind the empty line; -1 where there is none yet. */
function headEnd(bytes: Uint8Array, from: number): number {
  for (let at = from + 3; at < bytes.length; at++)
    if (bytes[at] === LF && bytes[at - 1] === CR && bytes[at - 2] === LF && bytes[at - 3] === CR)
      return at + 1;
  return -1;
}

/** Whether these bytes may be the beginning of a request line. */
function mayBegin(bytes: Uint8Array, from: number): boolean {
  let at = from;
  while (at < bytes.length && isTokenCode(bytes[at] as number)) at++;
  if (at === bytes.length) return at - from <= METHOD_MAX;
  if (at === from || at - from > METHOD_MAX || bytes[at] !== SPACE) return false;
  while (at < bytes.length && bytes[at] !== LF) at++;
  // WHY: other protocols of lines are told by their first one, not only by an empty line that may never come.
  return at === bytes.length || endsLine(bytes, at);
}

const LINE_END = freeze([0x48, 0x54, 0x54, 0x50, 0x2f, 0x31, 0x2e]);

/** Whether a line ends as that of a request does: `HTTP/1.1`, or `HTTP/1.0`. */
function endsLine(bytes: Uint8Array, at: number): boolean {
  const start = at - LINE_END.length - 2;
  if (start < 0 || bytes[at - 1] !== CR || (bytes[at - 2] !== 0x30 && bytes[at - 2] !== 0x31)) return false;
  for (let index = 0; index < LINE_END.length; index++)
    if (bytes[start + index] !== LINE_END[index]) return false;
  return true;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  if (byte >= 0x61 && byte <= 0x66) return byte - 0x57;
  if (byte >= 0x41 && byte <= 0x46) return byte - 0x37;
  return -1;
}
