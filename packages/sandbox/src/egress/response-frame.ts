/**
 * Where the response of a server begins its body, and where it ends. Pure. The head is written anew for the program; the
 * body passes as it came. What cannot be framed for certain is broken.
 */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  /** The body ends with the connection. */
  | { readonly kind: "closed" };

export type ResponseHead =
  | { readonly kind: "short" }
  | { readonly kind: "broken" }
  /** Of the kind that another one follows (1xx). */
  | { readonly kind: "interim"; readonly end: number }
  | {
      readonly kind: "head";
      /** Status line and headers that go on, as lines; without what belongs to the connection. */
      readonly lines: string;
      readonly framing: Framing;
      /** The server keeps the connection open. */
      readonly keeps: boolean;
      readonly end: number;
    };

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, COLON, SEMICOLON, DELETE] = [
  9, 10, 13, 32, 58, 59, 127,
] as const;
const HEAD_BYTES_MAX = 65_536;
const LENGTH_DIGITS_MAX = 15;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
/** Characters of a header's name. */
const IN_NAME = Uint8Array.from({ length: 256 }, (_, code) =>
  /[\w!#$%&'*+.^`|~-]/.test(String.fromCharCode(code)) && code < DELETE ? 1 : 0,
);
const BROKEN: ResponseHead = Object.freeze({ kind: "broken" });

const OF_ONE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

export function readResponseHead(bytes: Buffer, method: string): ResponseHead {
  const end = headEnd(bytes);
  if (end < 0) return bytes.length > HEAD_BYTES_MAX ? BROKEN : { kind: "short" };
  const text = bytes.toString("latin1", 0, end);
  const statusEnd = text.indexOf("\n");
  const [, minor, code = "", reason = ""] = STATUS_LINE.exec(text.slice(0, lineEnd(text, statusEnd))) ?? [];
  if (minor === undefined || code === "101") return BROKEN;
  if (code.startsWith("1")) return { kind: "interim", end };
  const headers = readHeaders(text, statusEnd + 1);
  if (headers === undefined) return BROKEN;
  const hasNone = method === "HEAD" || code === "204" || code === "304";
  const framing = framingOf(headers, hasNone);
  if (framing === undefined) return BROKEN;
  const { connection, lines } = headers;
  const keeps =
    framing.kind !== "closed" &&
    (minor === "1" ? !connection.includes("close") : connection.includes("keep-alive"));
  const coding = framing.kind === "chunked" ? "Transfer-Encoding: chunked\r\n" : "";
  return { kind: "head", lines: `HTTP/1.1 ${code} ${reason}\r\n${lines}${coding}`, framing, keeps, end };
}

interface Headers {
  /** Those that go on. */
  readonly lines: string;
  readonly lengths: readonly string[];
  readonly codings: readonly string[];
  /** What the server says about the connection. */
  readonly connection: readonly string[];
}

/** `undefined`: a line is no header. */
function readHeaders(text: string, start: number): Headers | undefined {
  const [lengths, codings, connection]: [string[], string[], string[]] = [[], [], []];
  const kept: { readonly name: string; readonly line: string }[] = [];
  for (let at = start, end; (end = text.indexOf("\n", at)) >= 0; at = end + 1) {
    const stop = lineEnd(text, end);
    if (stop === at) break;
    const colon = nameEnd(text, at);
    if (colon === at || text.charCodeAt(colon) !== COLON || !isText(text, colon + 1, stop)) return undefined;
    const name = text.slice(at, colon).toLowerCase();
    if (name === "connection")
      for (const one of text.slice(colon + 1, stop).split(",")) connection.push(one.trim().toLowerCase());
    else if (name === "transfer-encoding")
      codings.push(
        text
          .slice(colon + 1, stop)
          .trim()
          .toLowerCase(),
      );
    else if (!OF_ONE_CONNECTION.has(name)) {
      if (name === "content-length") lengths.push(text.slice(colon + 1, stop).trim());
      kept.push({ name, line: text.slice(at, stop) });
    }
  }
  let lines = "";
  for (const { name, line } of kept) if (!connection.includes(name)) lines += `${line}\r\n`;
  return { lines, lengths, codings, connection };
}

/** WHY bare line feeds too: some servers write them, and the head is written anew. */
function lineEnd(text: string, feed: number): number {
  return feed > 0 && text.charCodeAt(feed - 1) === CARRIAGE_RETURN ? feed - 1 : feed;
}

function nameEnd(text: string, start: number): number {
  let at = start;
  while (IN_NAME[text.charCodeAt(at)] === 1) at++;
  return at;
}

function isText(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if ((code < SPACE && code !== TAB) || code === DELETE) return false;
  }
  return true;
}

/** After the empty line; -1 where it has not come yet. */
function headEnd(bytes: Buffer): number {
  const usual = bytes.indexOf("\r\n\r\n", 0, "latin1");
  const bare = bytes.indexOf("\n\n", 0, "latin1");
  if (bare >= 0 && (usual < 0 || bare < usual)) return bare + 2;
  return usual < 0 ? -1 : usual + 4;
}

function framingOf({ lengths, codings }: Headers, hasNone: boolean): Framing | undefined {
  if (lengths.length > 1 || codings.length > 1 || (lengths.length > 0 && codings.length > 0))
    return undefined;
  const [length] = lengths;
  if (length !== undefined && (!/^\d+$/.test(length) || length.length > LENGTH_DIGITS_MAX)) return undefined;
  if (codings.length > 0 && codings[0] !== "chunked") return undefined;
  if (hasNone) return { kind: "none" };
  if (codings.length > 0) return { kind: "chunked" };
  return length === undefined ? { kind: "closed" } : { kind: "length", length: Number(length) };
}

/** Follows a body to its end. */
export interface BodyFrame {
  readonly state: "more" | "over" | "broken";
  /** How many of these bytes belong to the body. */
  take(bytes: Buffer): number;
}

export function bodyFrame(framing: Framing): BodyFrame {
  switch (framing.kind) {
    case "none":
      return new CountedBody(0);
    case "length":
      return new CountedBody(framing.length);
    case "closed":
      return new CountedBody(Infinity);
    case "chunked":
      return new ChunkedBody();
  }
}

class CountedBody implements BodyFrame {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  get state(): BodyFrame["state"] {
    return this.#left === 0 ? "over" : "more";
  }

  take(bytes: Buffer): number {
    const taken = Math.min(this.#left, bytes.length);
    this.#left -= taken;
    return taken;
  }
}

const SIZE_DIGITS_MAX = 12;
const LINE_BYTES_MAX = 16_384;

class ChunkedBody implements BodyFrame {
  state: BodyFrame["state"] = "more";
  #at: "size" | "extension" | "data" | "gap" | "trailer" = "size";
  #left = 0;
  /** Digits of a size, or bytes of a line. */
  #count = 0;

  take(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.state === "more") {
      if (this.#at === "data") {
        const taken = Math.min(this.#left, bytes.length - at);
        at += taken;
        this.#left -= taken;
        if (this.#left === 0) this.#at = "gap";
      } else this.#step(bytes[at++] as number);
    }
    return at;
  }

  #step(byte: number): void {
    const isEnd = byte === LINE_FEED;
    switch (this.#at) {
      case "size": {
        const digit = digitOf(byte);
        if (digit >= 0 && this.#count < SIZE_DIGITS_MAX) {
          this.#left = this.#left * 16 + digit;
          this.#count++;
        } else if (this.#count === 0 || digit >= 0) this.state = "broken";
        else if (isEnd) this.#sized();
        else if ([CARRIAGE_RETURN, SEMICOLON, SPACE, TAB].includes(byte as never)) this.#at = "extension";
        else this.state = "broken";
        return;
      }
      case "extension":
        if (isEnd) this.#sized();
        else if (++this.#count > LINE_BYTES_MAX) this.state = "broken";
        return;
      case "gap":
        if (isEnd) this.#begin("size");
        else if (byte !== CARRIAGE_RETURN) this.state = "broken";
        return;
      case "trailer":
        if (isEnd && this.#count === 0) this.state = "over";
        else if (isEnd) this.#count = 0;
        else if (byte !== CARRIAGE_RETURN && ++this.#count > LINE_BYTES_MAX) this.state = "broken";
        return;
      case "data":
        return;
    }
  }

  #sized(): void {
    this.#begin(this.#left === 0 ? "trailer" : "data");
  }

  #begin(at: "size" | "data" | "trailer"): void {
    if (at === "size") this.#left = 0;
    this.#at = at;
    this.#count = 0;
  }
}

function digitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
