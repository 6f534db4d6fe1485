/**
 * One HTTP call in the caller's words, read once: method, headers, body. Says whether it receives or sends, and what a
 * redirect makes of it. Pure. Headers by which a call could be another one than was checked are refused.
 */
import { ownField } from "../../registry/host-input.ts";

/** A stream is sent as it comes, and once: a redirect that asks for it again fails. */
export type HttpBody = string | Uint8Array | URLSearchParams | ByteStream;
export type ByteStream = AsyncIterable<Uint8Array>;

export interface HttpInit {
  readonly method?: string | undefined;
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  readonly body?: HttpBody | null | undefined;
  /** `follow` unless said; every hop is a check of its own. */
  readonly redirect?: "follow" | "manual" | "error" | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpCall {
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array | ByteStream | undefined;
}

const METHOD = /^[A-Z]+(?:-[A-Z]+)*$/;
const RECEIVING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** WHY: a tunnel and an echo are no calls to the URL that was checked. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);
const REFUSED_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
/** Not handed on to another origin. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);
const BODY_HEADERS: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-language",
  "content-location",
  "content-type",
]);

export function httpCall(init: HttpInit): HttpCall {
  const method = (ownField(init, "method") ?? "GET").toUpperCase();
  if (!METHOD.test(method) || REFUSED_METHODS.has(method))
    throw new TypeError(`\`${method.slice(0, 32)}\` is no method of a call: use GET, POST or the like`);
  const headers = new Map<string, string>();
  new Headers(ownField(init, "headers") ?? {}).forEach((value, name) => {
    if (REFUSED_HEADERS.has(name) || name.startsWith("proxy-") || name.startsWith("sec-"))
      throw new TypeError(`the header \`${name}\` follows from the call: leave it out`);
    headers.set(name, value);
  });
  const body = bodyOf(ownField(init, "body") ?? undefined, headers);
  return { method, headers, body };
}

/** A body sends, whatever the method says. */
export function operationOf({ method, body }: HttpCall): "receive" | "send" {
  return RECEIVING.has(method) && body === undefined ? "receive" : "send";
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/** The call that a redirect asks for, as the Fetch standard has it. */
export function redirectedCall(call: HttpCall, status: number, from: URL, to: URL): HttpCall {
  const isPost = call.method === "POST";
  const becomesGet =
    ((status === 301 || status === 302) && isPost) ||
    (status === 303 && call.method !== "GET" && call.method !== "HEAD");
  const isElsewhere = from.origin !== to.origin;
  const headers = new Map(
    [...call.headers].filter(
      ([name]) => !(becomesGet && BODY_HEADERS.has(name)) && !(isElsewhere && CREDENTIALS.has(name)),
    ),
  );
  if (becomesGet) return { method: "GET", headers, body: undefined };
  if (call.body !== undefined && !(call.body instanceof Uint8Array))
    throw new TypeError("the server asks for the body again, and a stream is sent once: send bytes");
  return { ...call, headers };
}

function bodyOf(body: HttpBody | undefined, headers: Map<string, string>): HttpCall["body"] {
  if (body === undefined) return undefined;
  if (body instanceof URLSearchParams) {
    if (!headers.has("content-type"))
      headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
    return Buffer.from(body.toString());
  }
  if (typeof body === "string") {
    if (!headers.has("content-type")) headers.set("content-type", "text/plain;charset=UTF-8");
    return Buffer.from(body);
  }
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  if (typeof body === "object" && body !== null && Symbol.asyncIterator in body) return body;
  throw new TypeError("a body must be text, bytes, `URLSearchParams` or a stream of bytes");
}
