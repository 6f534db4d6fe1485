/**
 * The headers of an HTTP/2 stream as Node hands them down: one text of names, values and a letter for each. Read as the
 * native side reads it, byte by byte, so that what is compared with the decision is what leaves.
 */
import { charCodeAt, slice } from "../captured.ts";
import type { Connection } from "../network/connection.ts";
import { lowered } from "./request-head.ts";
import { isNamed } from "./request-part.ts";

/** What was decided on, of a stream to the connection's own origin. */
export interface DecidedStream {
  readonly method: string;
  readonly path: string;
  /** Nothing follows the headers. */
  readonly isEnded: boolean;
}

const { fromCharCode } = String;
const BYTE_MAX = 0xff;
const BRACKET = 0x5b;
/** Of Node: nothing follows the headers. */
const EMPTY_PAYLOAD = 1;

/** A copy that nobody else holds, of the bytes that are written; `undefined` where it is no list. */
export function listAsWritten(given: unknown): [string, number] | undefined {
  if (!Array.isArray(given)) return undefined;
  const text: unknown = given[0];
  const count: unknown = given[1];
  return typeof text === "string" && typeof count === "number" ? [inBytes(text), count] : undefined;
}

/** WHY: of a character beyond one byte, half is written; it may be another letter, or the end of a value. */
function inBytes(text: string): string {
  let bytes = "";
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const code = charCodeAt(text, index);
    if (code <= BYTE_MAX) continue;
    bytes += slice(text, start, index) + fromCharCode(code & BYTE_MAX);
    start = index + 1;
  }
  return start === 0 ? text : bytes + slice(text, start);
}

export function isDecidedStream(
  connection: Connection,
  { method, path, isEnded }: DecidedStream,
  list: string,
  flags: unknown,
): boolean {
  if (isEnded && (typeof flags !== "number" || (flags & EMPTY_PAYLOAD) === 0)) return false;
  let methods = 0;
  let paths = 0;
  for (let at = 0; at < list.length;) {
    const nameEnd = endOf(list, at);
    const valueEnd = endOf(list, nameEnd + 1);
    const name = lowered(list, at, nameEnd);
    const value = slice(list, nameEnd + 1, valueEnd);
    // WHY: one letter of flags follows.
    at = valueEnd + 2;
    if (at > list.length) return false;
    if (name === ":method") {
      methods++;
      if (value !== method) return false;
    } else if (name === ":path") {
      paths++;
      if (value !== path) return false;
    } else if (name === ":authority" || name === "host") {
      if (!isAuthority(connection, value)) return false;
    } else if (name === ":protocol") return false;
  }
  return methods === 1 && paths === 1;
}

/** Whether it names where the connection leads, as Node or the program says it. */
export function isAuthority(connection: Connection, value: string | undefined): boolean {
  const { host, port } = connection;
  const own = `${host}:${port}`;
  // WHY: where Node says it itself, it leaves the brackets of an address away.
  return isNamed(connection, value) || (charCodeAt(host, 0) === BRACKET && value === unbracketed(own, host));
}

function unbracketed(text: string, host: string): string {
  return slice(text, 1, host.length - 1) + slice(text, host.length);
}

function endOf(text: string, from: number): number {
  let at = from;
  while (at < text.length && charCodeAt(text, at) !== 0) at++;
  return at;
}
