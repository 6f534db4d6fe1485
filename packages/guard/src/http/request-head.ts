/**
 * The head of an HTTP/1 request, read from the bytes that are about to leave. Stricter than servers are: what two readers
 * could take for different requests is not read at all, and is then no request but bytes of unknown meaning.
 * Trusts nothing. Must never guess where a request ends.
 */
import { bare, charCodeAt, freeze, slice } from "../captured.ts";

export type BodyFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" };

export interface RequestHead {
  readonly method: string;
  /** As it stands in the request line. */
  readonly target: string;
  /** The text of the request line behind the target, and all header lines. */
  readonly tail: string;
  readonly host: string | undefined;
  readonly body: BodyFraming;
  /** What the connection is to become. */
  readonly upgrade: "none" | "websocket" | "other";
}

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const COLON = 0x3a;
const DELETE = 0x7f;
const VERSION_LENGTH = 8;
const LENGTH_DIGITS_MAX = 15;
const NO_BODY: BodyFraming = freeze(bare({ kind: "none" as const }));
const CHUNKED: BodyFraming = freeze(bare({ kind: "chunked" as const }));

/** Letters, digits and `!#$%&'*+-.^_`|~`: what method names and header names are made of. */
export function isTokenCode(code: number): boolean {
  if (code >= 0x61 && code <= 0x7a) return true;
  if (code >= 0x41 && code <= 0x5a) return true;
  if (code >= 0x30 && code <= 0x39) return true;
  return (
    code === 0x21 ||
    (code >= 0x23 && code <= 0x27) ||
    code === 0x2a ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x2e ||
    (code >= 0x5e && code <= 0x60) ||
    code === 0x7c ||
    code === 0x7e
  );
}

interface Fields {
  host: string | undefined;
  length: string | undefined;
  encoding: string | undefined;
  upgrade: string | undefined;
  isAmbiguous: boolean;
}

/**
 * @param text one character a byte, from the request line to the empty line
 * @returns `undefined` where it cannot be read without doubt
 */
export function parseHead(text: string): RequestHead | undefined {
  const methodEnd = tokenEnd(text, 0);
  if (methodEnd === 0 || charCodeAt(text, methodEnd) !== SPACE) return undefined;
  const targetEnd = visibleEnd(text, methodEnd + 1);
  if (targetEnd === methodEnd + 1 || charCodeAt(text, targetEnd) !== SPACE) return undefined;
  const version = slice(text, targetEnd + 1, targetEnd + 1 + VERSION_LENGTH);
  if (version !== "HTTP/1.1" && version !== "HTTP/1.0") return undefined;
  const lineEnd = targetEnd + 1 + VERSION_LENGTH;
  if (!isLineEnd(text, lineEnd)) return undefined;
  const fields: Fields = bare({
    host: undefined,
    length: undefined,
    encoding: undefined,
    upgrade: undefined,
    isAmbiguous: false,
  });
  if (readFields(text, lineEnd + 2, fields) !== text.length || fields.isAmbiguous) return undefined;
  const body = framingOf(fields, version);
  if (body === undefined) return undefined;
  const upgrade = upgradeOf(fields.upgrade);
  if (upgrade === "websocket" && body !== NO_BODY) return undefined;
  return freeze(
    bare({
      method: slice(text, 0, methodEnd),
      target: slice(text, methodEnd + 1, targetEnd),
      tail: slice(text, targetEnd),
      host: fields.host,
      body,
      upgrade,
    }),
  );
}

/** Where the text behind the empty line begins; -1 where there is a line that is no header. */
function readFields(text: string, from: number, fields: Fields): number {
  let at = from;
  while (at < text.length) {
    if (isLineEnd(text, at)) return at + 2;
    const nameEnd = tokenEnd(text, at);
    if (nameEnd === at || charCodeAt(text, nameEnd) !== COLON) return -1;
    let end = nameEnd + 1;
    while (end < text.length && isValueCode(charCodeAt(text, end))) end++;
    if (!isLineEnd(text, end)) return -1;
    keepField(fields, lowered(text, at, nameEnd), trimmed(text, nameEnd + 1, end));
    at = end + 2;
  }
  return -1;
}

function keepField(fields: Fields, name: string, value: string): void {
  switch (name) {
    case "host":
      if (fields.host !== undefined) fields.isAmbiguous = true;
      fields.host = value;
      return;
    case "content-length":
      if (fields.length !== undefined) fields.isAmbiguous = true;
      fields.length = value;
      return;
    case "transfer-encoding":
      if (fields.encoding !== undefined) fields.isAmbiguous = true;
      fields.encoding = lowered(value, 0, value.length);
      return;
    case "upgrade":
      if (fields.upgrade !== undefined) fields.isAmbiguous = true;
      fields.upgrade = lowered(value, 0, value.length);
      return;
    default:
  }
}

function framingOf({ length, encoding }: Fields, version: string): BodyFraming | undefined {
  if (encoding !== undefined)
    return encoding === "chunked" && length === undefined && version === "HTTP/1.1" ? CHUNKED : undefined;
  if (length === undefined) return NO_BODY;
  if (length.length === 0 || length.length > LENGTH_DIGITS_MAX) return undefined;
  let bytes = 0;
  for (let index = 0; index < length.length; index++) {
    const digit = charCodeAt(length, index) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    bytes = bytes * 10 + digit;
  }
  return bytes === 0 ? NO_BODY : freeze(bare({ kind: "length" as const, bytes }));
}

function upgradeOf(value: string | undefined): RequestHead["upgrade"] {
  if (value === undefined) return "none";
  return value === "websocket" ? "websocket" : "other";
}

function tokenEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && isTokenCode(charCodeAt(text, end))) end++;
  return end;
}

function visibleEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && charCodeAt(text, end) > SPACE && charCodeAt(text, end) !== DELETE) end++;
  return end;
}

function isLineEnd(text: string, at: number): boolean {
  return at + 1 < text.length && charCodeAt(text, at) === CR && charCodeAt(text, at + 1) === LF;
}

function isValueCode(code: number): boolean {
  return code === TAB || (code >= SPACE && code !== DELETE);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(charCodeAt(text, start))) start++;
  while (end > start && isBlank(charCodeAt(text, end - 1))) end--;
  return slice(text, start, end);
}

const { fromCharCode } = String;

/** WHY: not `toLowerCase`, which foreign code can replace. */
export function lowered(text: string, from: number, to: number): string {
  let hasUpper = false;
  for (let index = from; index < to && !hasUpper; index++) {
    const code = charCodeAt(text, index);
    hasUpper = code >= 0x41 && code <= 0x5a;
  }
  if (!hasUpper) return slice(text, from, to);
  let lower = "";
  for (let index = from; index < to; index++) {
    const code = charCodeAt(text, index);
    lower += code >= 0x41 && code <= 0x5a ? fromCharCode(code + 0x20) : slice(text, index, index + 1);
  }
  return lower;
}
