/**
 * Sends an admitted request on and its response back. Both are written anew from what was read and judged, so that
 * nobody behind the gateway can read them in another way.
 */
import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
  request,
} from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { pipeline } from "node:stream";
import type { Host, UrlTarget } from "@sallyport/contract";
import { valuesOf } from "./judge-request.ts";

export interface Forwarding {
  readonly target: UrlTarget;
  readonly address: string | undefined;
  readonly hasBody: boolean;
  readonly agent: Agent;
}

/** What the agent of a passage is told about a connection. */
export interface AgentWords {
  readonly name: Host;
  readonly admitted: string | undefined;
  readonly wantedPort: number;
  readonly isSecure: boolean;
}

const HOP_BY_HOP: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
];

type AnyRequest = IncomingMessage | Http2ServerRequest;
type AnyResponse = ServerResponse | Http2ServerResponse;

/** The request on its way; the caller waits for its response. */
export function upstreamRequest(
  from: AnyRequest,
  { target, address, hasBody, agent }: Forwarding,
  added: readonly string[] = [],
): ClientRequest {
  const length = valuesOf(from.rawHeaders, "content-length")[0];
  const framing = !hasBody
    ? []
    : length === undefined
      ? ["Transfer-Encoding", "chunked"]
      : ["Content-Length", length];
  const { host: name, port: wantedPort } = target;
  const isSecure = isSecureTarget(target);
  const words: AgentWords = { name, admitted: address, wantedPort, isSecure };
  const options: RequestOptions & AgentWords = {
    agent,
    host: address ?? name,
    port: wantedPort,
    method: from.method ?? "GET",
    path: pathOf(target),
    // WHY `host` first: some servers look no further.
    headers: [
      "Host",
      authorityOf(target),
      ...kept(from.rawHeaders, ["host", "content-length"]),
      ...framing,
      ...added,
    ],
    setHost: false,
    ...words,
  };
  return request(options);
}

/** Host and port, as a `Host` header has them. */
export function authorityOf({ scheme, text }: UrlTarget): string {
  const start = scheme.length + "://".length;
  return text.slice(start, text.indexOf("/", start));
}

export function pathOf({ path, query }: UrlTarget): string {
  return query === undefined ? path : `${path}?${query}`;
}

export function isSecureTarget({ scheme }: UrlTarget): boolean {
  return scheme === "https" || scheme === "wss";
}

/**
 * Writes the response for the program; `onOver` once, however it ended.
 * INVARIANT: a head that cannot be written ends the exchange: whoever calls this listens to nobody's faults.
 */
export function answerWith(response: IncomingMessage, to: AnyResponse, onOver: () => void): void {
  try {
    writeHead(response, to);
  } catch {
    response.destroy();
    to.destroy();
    onOver();
    return;
  }
  response.once("end", () => {
    const trailers = Object.entries(grouped(kept(response.rawTrailers, [])));
    if (trailers.length === 0 || to.writableEnded) return;
    to.addTrailers(Object.fromEntries(trailers.map(([name, values]) => [name, values.join(", ")])));
  });
  pipeline(response, to as NodeJS.WritableStream, onOver);
}

function writeHead(response: IncomingMessage, to: AnyResponse): void {
  const headers = kept(response.rawHeaders, []);
  const { statusCode = 502, statusMessage = "" } = response;
  if ("stream" in to) to.writeHead(statusCode, grouped(headers));
  else to.writeHead(statusCode, statusMessage, [...headers]);
}

/** By name. WHY each value once: HTTP/2 takes some names only once, and servers say them twice. */
function grouped(headers: readonly string[]): Record<string, string[]> {
  const groups: Record<string, string[]> = Object.create(null);
  for (let index = 0; index < headers.length; index += 2) {
    const values = (groups[(headers[index] as string).toLowerCase()] ??= []);
    const value = headers[index + 1] as string;
    if (!values.includes(value)) values.push(value);
  }
  return groups;
}

/** Without what belongs to one connection only. */
function kept(rawHeaders: readonly string[], without: readonly string[]): readonly string[] {
  const listed = valuesOf(rawHeaders, "connection").flatMap((value) =>
    value.split(",").map((name) => name.trim().toLowerCase()),
  );
  const dropped = new Set([...HOP_BY_HOP, ...listed, ...without]);
  const list: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (!name.startsWith(":") && !dropped.has(name.toLowerCase()))
      list.push(name, rawHeaders[index + 1] as string);
  }
  return list;
}
