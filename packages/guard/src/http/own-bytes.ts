/**
 * Bytes that belong to the guard alone. What a program hands over it can change while a decision is awaited, and small
 * buffers share their memory with the program's own; so what is decided on and what is sent is a copy in fresh memory.
 */
/* oxlint-disable typescript/unbound-method -- built-ins are taken as they are and called through Reflect.apply */
import { types } from "node:util";
import { append, apply, charCodeAt, getOwnPropertyDescriptor, getPrototypeOf } from "../captured.ts";

const NativeBytes = Uint8Array;
const TypedArray = getPrototypeOf(Uint8Array.prototype) as object;
const lengthOf = getOwnPropertyDescriptor(TypedArray, "length")?.get as () => number;
const { set, subarray } = Uint8Array.prototype;
const { latin1Slice } = Buffer.prototype as unknown as { latin1Slice(from: number, to: number): string };
const { from: bufferFrom, byteLength } = Buffer;
const { isUint8Array } = types;

/** One piece of what is to be written, as `Writable` hands it over. */
export interface Piece {
  readonly chunk: unknown;
  readonly encoding: unknown;
}

export function bytesLength(bytes: Uint8Array): number {
  return apply(lengthOf, bytes, []);
}

/** One character a byte. */
export function latin1(bytes: Uint8Array, from: number, to: number): string {
  return apply(latin1Slice, bytes, [from, to]);
}

/** @throws TypeError for what is neither text nor bytes */
export function ownBytes(pieces: readonly Piece[], held: Uint8Array | undefined): Uint8Array {
  const sources: Uint8Array[] = [];
  let total = 0;
  const take = (source: Uint8Array): void => {
    append(sources, source);
    total += bytesLength(source);
  };
  if (held !== undefined) take(held);
  for (let index = 0; index < pieces.length; index++) {
    const { chunk, encoding } = pieces[index] as Piece;
    take(asBytes(chunk, encoding));
  }
  const own = new NativeBytes(total);
  let at = 0;
  for (let index = 0; index < sources.length; index++) {
    const source = sources[index] as Uint8Array;
    apply(set, own, [source, at]);
    at += bytesLength(source);
  }
  return own;
}

function asBytes(chunk: unknown, encoding: unknown): Uint8Array {
  if (typeof chunk === "string") return apply(bufferFrom, Buffer, [chunk, encoding as "utf8"]);
  if (isUint8Array(chunk)) return chunk;
  throw new TypeError("only text and bytes can be written to a connection");
}

/** How many bytes a piece is; `undefined` where that takes more than a look. */
export function plainLength({ chunk, encoding }: Piece): number | undefined {
  if (isUint8Array(chunk)) return bytesLength(chunk);
  if (typeof chunk !== "string") return undefined;
  if (encoding === "latin1" || encoding === "binary") return chunk.length;
  return encoding === "utf8" || encoding === "utf-8" ? byteLength(chunk) : undefined;
}

/** A view; whoever has it has the bytes. */
export function part(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return apply(subarray, bytes, [from, to]);
}

/** The bytes of one character each. */
export function fromLatin1(text: string): Uint8Array {
  const bytes = new NativeBytes(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = charCodeAt(text, index);
  return bytes;
}

const BYTES = "buffer";

/** All of them in one piece, in fresh memory. */
export function joined(sources: readonly Uint8Array[]): Uint8Array {
  const pieces: Piece[] = [];
  for (let index = 0; index < sources.length; index++)
    append(pieces, { chunk: sources[index], encoding: BYTES });
  return ownBytes(pieces, undefined);
}
