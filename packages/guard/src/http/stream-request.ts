/**
 * What an HTTP/2 stream asks for. The headers are read once, into a copy that Node is given; the path in it is the one
 * that is decided on.
 */
import type { Host } from "@sallyport/contract";
import { type AccessPart } from "../access-part.ts";
import { type CallFacts, refusedError } from "../blocked-call.ts";
import { append, bare, freeze, getOwnPropertyDescriptor, ownKeys, put } from "../captured.ts";
import type { Connection, Decided } from "../network/connection.ts";
import { shownValue } from "../network/not-an-endpoint.ts";
import type { Kept } from "./kept-session.ts";
import { lowered } from "./request-head.ts";
import { connecting, operationOf, originUrl, pathOf, requestPart } from "./request-part.ts";
import { type DecidedStream, isAuthority } from "./stream-list.ts";

export interface StreamRequest {
  readonly headers: unknown;
  readonly options: Record<string, unknown>;
  /** What has to pass, where the host has this address. */
  readonly parts: (address: Host | undefined) => readonly AccessPart[];
  /** Present where the request is of the connection's own origin. */
  readonly own: Decided | undefined;
  /** What Node may hand down; none where network connect is among the parts. */
  readonly stream: DecidedStream | undefined;
  readonly facts: CallFacts;
}

interface Pseudo {
  method: string;
  path: string;
  hasPath: boolean;
  authority: string | undefined;
  host: string | undefined;
  isTunnel: boolean;
}

/** @throws ExternalAccessError where the headers cannot be read without doubt */
export function streamRequest(
  { connection, authority: silent }: Pick<Kept, "connection" | "authority">,
  given: unknown,
  options: Record<string, unknown>,
): StreamRequest {
  const pseudo: Pseudo = bare({
    method: "GET",
    path: "/",
    hasPath: false,
    authority: undefined,
    host: undefined,
    isTunnel: false,
  });
  const headers = Array.isArray(given) ? copiedList(given, pseudo) : copiedHeaders(given, pseudo);
  const { method, path, isTunnel } = pseudo;
  const endStream = options["endStream"];
  const isEnded =
    typeof endStream === "boolean" ? endStream : method === "GET" || method === "HEAD" || method === "DELETE";
  // WHY: Node throws for what is neither.
  put(options, "endStream", endStream === undefined ? isEnded : shownValue(endStream));
  const url = originUrl(connection, bare({ target: path, isWebsocket: false }));
  if (url === undefined || isTunnel || method === "CONNECT") return tunnel(connection, headers, options);
  // WHY: Node adds `/` where there is none, in its own place.
  if (pseudo.hasPath) setPath(headers, pathOf(url));
  const operation = operationOf(method, !isEnded);
  const authority = pseudo.authority ?? (pseudo.host === undefined ? silent : undefined);
  const isElsewhere =
    connection.hasOtherName || !isAuthority(connection, authority) || !isAuthority(connection, pseudo.host);
  const parts = (address: Host | undefined): readonly AccessPart[] => {
    const list = [requestPart(operation, url, bare({ host: connection.host, address }))];
    if (isElsewhere) append(list, connecting(connection));
    return list;
  };
  const own = isElsewhere ? undefined : freeze(bare({ operation, url }));
  const stream = isElsewhere ? undefined : freeze(bare({ method, path: pathOf(url), isEnded }));
  return bare({ headers, options, parts, own, stream, facts: bare({ syscall: "request", path: url }) });
}

function tunnel(connection: Connection, headers: unknown, options: Record<string, unknown>): StreamRequest {
  const parts = (): readonly AccessPart[] => [connecting(connection)];
  const path = `${connection.host}:${connection.port}`;
  return bare({
    headers,
    options,
    parts,
    own: undefined,
    stream: undefined,
    facts: bare({ syscall: "request", path }),
  });
}

function copiedHeaders(given: unknown, pseudo: Pseudo): Record<string, unknown> {
  const copy: Record<string, unknown> = bare({});
  if (typeof given !== "object" || given === null) return copy;
  const keys = ownKeys(given);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (getOwnPropertyDescriptor(given, key)?.enumerable !== true) continue;
    const value = (given as Record<string, unknown>)[key];
    put(copy, key, typeof key === "string" ? read(pseudo, key, value) : value);
  }
  return copy;
}

/** Names and values by turns. */
function copiedList(given: readonly unknown[], pseudo: Pseudo): unknown[] {
  const copy: unknown[] = [];
  for (let index = 0; index + 1 < given.length; index += 2) {
    const key = single(given[index]);
    append(copy, key);
    append(copy, read(pseudo, key, given[index + 1]));
  }
  return copy;
}

/** The value as Node is given it; those that say where the request goes are text from here on. */
function read(pseudo: Pseudo, key: string, value: unknown): unknown {
  if (value === undefined) return value;
  const name = lowered(key, 0, key.length);
  switch (name) {
    case ":method":
      return (pseudo.method = single(value));
    case ":path":
      pseudo.hasPath = true;
      return (pseudo.path = single(value));
    case ":authority":
      return (pseudo.authority = single(value));
    case "host":
      return (pseudo.host = single(value));
    case ":protocol":
      pseudo.isTunnel = true;
      return single(value);
    default:
      return value;
  }
}

function single(value: unknown): string {
  if (typeof value === "string") return value;
  throw refusedError(
    "the headers that say where a request goes must be text: hand over one text each",
    bare({ syscall: "request" }),
  );
}

function setPath(headers: unknown, path: string): void {
  if (!Array.isArray(headers)) {
    put(headers as object, ":path", path);
    return;
  }
  for (let index = 0; index + 1 < headers.length; index += 2)
    if (headers[index] === ":path") put(headers, index + 1, path);
}
