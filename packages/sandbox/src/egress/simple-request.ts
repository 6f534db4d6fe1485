/**
 * The head of a request that can be read in one way only: it receives, has no body, names one host and speaks HTTP/1.1.
 * Pure. Knows no other form: what does not fit is left to Node's parser, and never guessed at here.
 */
export interface SimpleRequest {
  readonly method: "GET" | "HEAD" | "OPTIONS";
  /** As it stands in the request line. */
  readonly path: string;
  readonly host: string;
  /** The headers that go on to the server, as lines; without the host. */
  readonly lines: string;
  /** The program wants the connection closed afterwards. */
  readonly closes: boolean;
  /** Where the head ends. */
  readonly end: number;
}

const HEAD_BYTES_MAX = 16_384;
const HEADERS_MAX = 200;
const VERSION = " HTTP/1.1";
const METHODS = ["GET", "HEAD", "OPTIONS"] as const;

const [TAB, CARRIAGE_RETURN, LINE_FEED, SPACE, COLON, DELETE] = [9, 13, 10, 32, 58, 127] as const;

/** Characters of a header's name. */
const IN_NAME = Uint8Array.from({ length: 256 }, (_, code) =>
  /[\w!#$%&'*+.^`|~-]/.test(String.fromCharCode(code)) && code < DELETE ? 1 : 0,
);

/** What belongs to one connection only, and says nothing about the framing. */
const DROPPED: ReadonlySet<string> = new Set([
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
]);
/** INVARIANT: whatever could give a request a body, or the connection another meaning, is not simple. */
const NOT_SIMPLE: ReadonlySet<string> = new Set([
  "content-length",
  "transfer-encoding",
  "trailer",
  "upgrade",
  "expect",
  "http2-settings",
]);

/** `undefined`: this is no such head, or not all of it. */
export function readSimpleRequest(bytes: Buffer): SimpleRequest | undefined {
  const end = bytes.indexOf("\r\n\r\n", 0, "latin1");
  if (end < 0 || end > HEAD_BYTES_MAX) return undefined;
  const text = bytes.toString("latin1", 0, end + 2);
  const lineEnd = text.indexOf("\r\n");
  const method = METHODS.find((name) => text.startsWith(name) && text.charCodeAt(name.length) === SPACE);
  const pathEnd = lineEnd - VERSION.length;
  if (method === undefined || pathEnd <= method.length + 1 || !text.startsWith(VERSION, pathEnd))
    return undefined;
  const path = text.slice(method.length + 1, pathEnd);
  if (!isVisible(path)) return undefined;
  const headers = readHeaders(text, lineEnd + 2);
  return headers === undefined ? undefined : { method, path, ...headers, end: end + 4 };
}

function isVisible(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code <= SPACE || code >= DELETE) return false;
  }
  return true;
}

function readHeaders(
  text: string,
  start: number,
): Pick<SimpleRequest, "host" | "lines" | "closes"> | undefined {
  let host: string | undefined;
  let connection: string | undefined;
  let lines = "";
  let count = 0;
  for (let at = start; at < text.length; count++) {
    const header = readHeader(text, at);
    if (header === undefined || count >= HEADERS_MAX) return undefined;
    const name = text.slice(at, header.nameEnd).toLowerCase();
    at = header.lineEnd + 2;
    const value = text.slice(header.valueStart, header.valueEnd);
    if (name === "host" || name === "connection") {
      if ((name === "host" ? host : connection) !== undefined) return undefined;
      if (name === "host") host = value;
      else connection = value.toLowerCase();
    } else if (NOT_SIMPLE.has(name)) return undefined;
    else if (!DROPPED.has(name)) lines += `${text.slice(header.lineStart, header.nameEnd)}: ${value}\r\n`;
  }
  const isPlain = connection === undefined || connection === "keep-alive" || connection === "close";
  return host === undefined || !isPlain ? undefined : { host, lines, closes: connection === "close" };
}

interface HeaderPlace {
  readonly lineStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly lineEnd: number;
}

/** INVARIANT: a line that begins with a space, or holds a control character, is no header. */
function readHeader(text: string, lineStart: number): HeaderPlace | undefined {
  let at = lineStart;
  while (IN_NAME[text.charCodeAt(at)] === 1) at++;
  const nameEnd = at;
  if (nameEnd === lineStart || text.charCodeAt(at) !== COLON) return undefined;
  at++;
  while (isBlank(text.charCodeAt(at))) at++;
  const valueStart = at;
  for (let code; (code = text.charCodeAt(at)) !== CARRIAGE_RETURN; at++)
    if ((code < SPACE && code !== TAB) || code === DELETE || Number.isNaN(code)) return undefined;
  if (text.charCodeAt(at + 1) !== LINE_FEED) return undefined;
  let valueEnd = at;
  while (valueEnd > valueStart && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd--;
  return { lineStart, nameEnd, valueStart, valueEnd, lineEnd: at };
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
