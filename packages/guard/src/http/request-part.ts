/**
 * What a request means: receive or send, and the URL that stands on the wire. Built from where the connection leads and
 * from the bytes of the head, never from what a client library says about itself.
 */
import { type Host, foldLocalHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import { type AccessPart, connectPart } from "../access-part.ts";
import { append, bare, beginsWith, charCodeAt, freeze, slice } from "../captured.ts";
import { namesOf } from "../network/endpoint.ts";
import type { Connection } from "../network/connection.ts";
import { type RequestHead, lowered } from "./request-head.ts";

/** The part of a connection that its requests are named by. */
export type Origin = Pick<Connection, "host" | "port" | "isTls" | "address">;

export interface CheckedRequest {
  readonly parts: readonly AccessPart[];
  /** What is sent in the request line. */
  readonly target: string;
  /** Present where the request is of this connection's origin, and nothing else is needed. */
  readonly own?: { readonly operation: "receive" | "send"; readonly url: string } | undefined;
  /** What follows is of unknown meaning. */
  readonly opens: boolean;
}

const SLASH = 0x2f;
const HASH = 0x23;
const HEX = "0123456789ABCDEF";

export function operationOf(method: string, hasBody: boolean): "receive" | "send" {
  const isReading = method === "GET" || method === "HEAD" || method === "OPTIONS";
  return isReading && !hasBody ? "receive" : "send";
}

/** `undefined` where nobody can tell what the request reaches. */
export function checkedRequest(origin: Connection, head: RequestHead): CheckedRequest | undefined {
  if (head.method === "CONNECT") return tunnel(origin, head.target);
  const isWebsocket = head.upgrade === "websocket" && head.method === "GET";
  const scheme = `${isWebsocket ? "ws" : "http"}${origin.isTls ? "s" : ""}`;
  const operation = operationOf(head.method, head.body.kind !== "none");
  const isElsewhere = origin.hasOtherName || !isNamed(origin, head.host);
  if (charCodeAt(head.target, 0) !== SLASH) return throughProxy(origin, head, operation);
  const url = urlOf(`${scheme}://${origin.host}:${origin.port}`, head.target);
  if (url === undefined) return undefined;
  const parts = [requestPart(operation, url, origin)];
  const opens = head.upgrade === "other" || (head.upgrade === "websocket" && !isWebsocket);
  if (opens || isElsewhere) append(parts, connecting(origin));
  const own = parts.length === 1 ? freeze(bare({ operation, url })) : undefined;
  return freeze(bare({ parts, target: pathOf(url), own, opens }));
}

/** A URL of the connection's origin, for a client that says what it is about to ask for. */
export function originUrl(
  { host, port, isTls }: Pick<Origin, "host" | "port" | "isTls">,
  { target, isWebsocket }: { readonly target: string; readonly isWebsocket: boolean },
): string | undefined {
  if (charCodeAt(target, 0) !== SLASH) return undefined;
  return urlOf(`${isWebsocket ? "ws" : "http"}${isTls ? "s" : ""}://${host}:${port}`, target);
}

export function requestPart(
  operation: "receive" | "send",
  url: string,
  { host, address }: Pick<Origin, "host" | "address">,
): AccessPart {
  const aliases = namesOf(host);
  return freeze(
    bare({
      resourceType: "network" as const,
      operation,
      target: url,
      requested: url,
      exists: false,
      address,
      aliases,
    }),
  );
}

export function connecting({ host, port, address }: Pick<Origin, "host" | "port" | "address">): AccessPart {
  const text = `${host}:${port}`;
  return connectPart(text, text, bare({ address, aliases: namesOf(host) }));
}

/** The far end is connected to by the proxy; both ends are named. */
function tunnel(origin: Origin, target: string): CheckedRequest {
  const parts = [connecting(origin), connectPart(target, target)];
  return freeze(bare({ parts, target, opens: true }));
}

/** A whole URL in the request line is for a proxy, unless it names this very host. */
function throughProxy(
  origin: Origin,
  head: RequestHead,
  operation: "receive" | "send",
): CheckedRequest | undefined {
  const scheme = lowered(head.target, 0, 7);
  if (scheme !== "http://" && !beginsWith(scheme, "https:/")) return undefined;
  const url = urlOf("", head.target);
  if (url === undefined || head.upgrade !== "none") return undefined;
  // WHY: whose address the proxy dials is not known here.
  const part = requestPart(operation, url, bare({ host: "" as Host, address: undefined }));
  return freeze(bare({ parts: [connecting(origin), part], target: url, opens: false }));
}

/** Normalized, without a fragment. */
function urlOf(origin: string, target: string): string | undefined {
  const href = capturedUrl(`${origin}${escaped(target)}`);
  if (href === undefined) return undefined;
  let end = 0;
  while (end < href.length && charCodeAt(href, end) !== HASH) end++;
  return slice(href, 0, end);
}

/** From the slash behind the authority on. */
export function pathOf(url: string): string {
  let at = 0;
  for (let slashes = 0; at < url.length; at++)
    if (charCodeAt(url, at) === SLASH && ++slashes === 3) return slice(url, at);
  return "/";
}

/** WHY: a byte beyond ASCII means itself to a server; the standard would read it as a character. */
function escaped(target: string): string {
  let text = "";
  let start = 0;
  for (let index = 0; index < target.length; index++) {
    const code = charCodeAt(target, index);
    if (code < 0x80) continue;
    text += `${slice(target, start, index)}%${HEX[code >> 4]}${HEX[code & 15]}`;
    start = index + 1;
  }
  return `${text}${slice(target, start)}`;
}

/** Whether a Host header names where the connection leads. A request without one names nothing else. */
export function isNamed({ host, port, isTls }: Origin, header: string | undefined): boolean {
  if (header === undefined) return true;
  const text = lowered(header, 0, header.length);
  const withPort = `:${port}`;
  const hasPort = text.length > withPort.length && slice(text, text.length - withPort.length) === withPort;
  if (!hasPort && port !== (isTls ? 443 : 80)) return false;
  const name = hasPort ? slice(text, 0, text.length - withPort.length) : text;
  return name === host || foldLocalHost(name as Host) === foldLocalHost(host);
}
