/**
 * SOCKS 5 (RFC 1928), the part that opens a connection: no authentication, CONNECT only. Reads hostile bytes; names go
 * through the same parser as everything else.
 */
import type { Duplex } from "node:stream";
import { type Host, parseHost, whatwgUrl } from "@sallyport/contract";
import { firstBytes } from "./first-bytes.ts";

export type SocksOutcome =
  | { readonly kind: "destination"; readonly host: Host; readonly port: number }
  /** `wanted`: what it asked for, as far as it can be said. */
  | { readonly kind: "refused"; readonly wanted: string };

export const SOCKS_VERSION = 5;
const CONNECT = 1;
const NOT_ALLOWED = 2;
const NOT_SUPPORTED = 7;
const NAME = 3;
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 1: 4, 4: 16 };

export async function greetSocks(stream: Duplex): Promise<SocksOutcome> {
  const methods = await take(stream, 2);
  await take(stream, methods[1] as number);
  stream.write(Buffer.from([SOCKS_VERSION, 0]));
  const [version, command, , kind = 0] = await take(stream, 4);
  const size = kind === NAME ? ((await take(stream, 1))[0] as number) : ADDRESS_BYTES[kind];
  if (version !== SOCKS_VERSION || command !== CONNECT || size === undefined)
    return refuse(stream, NOT_SUPPORTED, "");
  const wanted = hostText(kind, await take(stream, size));
  const port = (await take(stream, 2)).readUInt16BE(0);
  const host = parseHost(wanted, whatwgUrl);
  if (host === undefined || port === 0) return refuse(stream, NOT_ALLOWED, wanted);
  stream.write(reply(0));
  return { kind: "destination", host, port };
}

function refuse(stream: Duplex, code: number, wanted: string): SocksOutcome {
  stream.end(reply(code));
  return { kind: "refused", wanted };
}

function reply(code: number): Buffer {
  return Buffer.from([SOCKS_VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

function hostText(kind: number, bytes: Buffer): string {
  if (kind === NAME) return bytes.toString("latin1");
  if (bytes.length === 4) return bytes.join(".");
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(":");
}

/**
 * Exactly so many bytes; throws where the stream ends before. WHY not read until there are enough: a stream that has some says
 * so again at once, and nothing else of the process would have a turn.
 */
async function take(stream: Duplex, size: number): Promise<Buffer> {
  if (size === 0) return Buffer.alloc(0);
  await firstBytes(stream, (seen) => seen.length >= size, undefined);
  const bytes = stream.read(size) as Buffer | null;
  if (bytes?.length !== size) throw new Error("the greeting ended early");
  return bytes;
}
