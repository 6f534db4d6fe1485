/**
 * What HTTP clients are about to ask for, as far as they say so before they connect: the agents of `http`, and every
 * copy of undici by its diagnostics channel. A note decides nothing. It says which question is asked when a connection is
 * opened, in whose name, and in whose name a request on a shared connection is decided; what leaves is read from the bytes.
 * INVARIANT: a note that was made up opens nothing but a connection whose every request is decided.
 * In a process that runs several subjects a note is found by its request, since two of them may ask for the same URL.
 */
import diagnostics from "node:diagnostics_channel";
import http from "node:http";
import https from "node:https";
import { types } from "node:util";
import { type Host, parseHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import { append, apply, bare, freeze, getOwnPropertyDescriptor } from "../captured.ts";
import { portOf } from "../network/endpoint.ts";
import { replaceExport } from "../replace-export.ts";
import { type Within, withinNow } from "../within-context.ts";
import { operationOf, pathOf } from "./request-part.ts";

export interface RequestNote {
  readonly host: Host;
  readonly port: number;
  readonly operation: "receive" | "send";
  /** As it will stand in the request line. */
  readonly target: string;
  readonly isWebsocket: boolean;
  readonly sinceMs: number;
  /** Runs work in the asynchronous context of whoever asked for the request. */
  readonly within: Within;
}

const NOTES_MAX = 512;
const NOTE_LIFE_MS = 60_000;
const { now } = Date;
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { getHeader } = http.OutgoingMessage.prototype;

interface Link {
  readonly note: RequestNote;
  next: Link | undefined;
}

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
let isExact = false;
/** Notes by their request, and the request of undici that is written to a socket now. */
const byRequest = new WeakMap<object, RequestNote>();
const sending = new WeakMap<object, object>();
/** Of the request that a connection is opened for at this moment. */
let opening: RequestNote | undefined;

/** From here on requests of several subjects are told apart. */
export function noteExactly(): void {
  if (isExact) return;
  isExact = true;
  diagnostics.subscribe("undici:client:sendHeaders", (message) => {
    quietlyNoted(() => {
      const { request, socket } = message as { readonly request: object; readonly socket: object };
      apply(set, sending, [socket, request]);
    });
  });
  replaceExport(
    http.Agent.prototype,
    "createSocket",
    (original) =>
      function createSocket(this: unknown, ...args: unknown[]) {
        const before = opening;
        opening = noteOf(args[0]);
        try {
          return apply(original, this, args);
        } finally {
          opening = before;
        }
      },
  );
}

function noteOf(request: unknown): RequestNote | undefined {
  if (typeof request !== "object" || request === null) return undefined;
  return apply(get, byRequest, [request]) as RequestNote | undefined;
}

/** The note of the request whose head is written to the socket now, where it can be told. */
export function noteWrittenTo(socket: object): RequestNote | undefined {
  if (!isExact) return undefined;
  const message: unknown = getOwnPropertyDescriptor(socket, "_httpMessage")?.value;
  return noteOf(message) ?? noteOf(apply(get, sending, [socket]));
}

/** Oldest first. */
let oldest: Link | undefined;
let newest: Link | undefined;
let count = 0;

export function installNotes(): void {
  replaceExport(
    http.Agent.prototype,
    "addRequest",
    (original) =>
      function addRequest(this: unknown, ...args: unknown[]) {
        quietlyNoted(() => noteAgentRequest(args[0] as NotedRequest, args[1] as NotedOptions));
        return apply(original, this, args);
      },
  );
  for (const exports of [http, https])
    for (const name of ["request", "get"])
      replaceExport(
        exports,
        name,
        (original) =>
          function request(...args: unknown[]) {
            return apply(original, exports, noteOwnConnections(args));
          },
      );
  diagnostics.subscribe("undici:request:create", (message) => {
    quietlyNoted(() => noteUndici((message as { readonly request: UndiciRequest }).request));
  });
}

/** WHY: what a client hands over may be anything; without a note its connection is a raw one. */
function quietlyNoted(note: () => void): void {
  try {
    note();
  } catch {
    // Nothing is noted, nothing is opened by it.
  }
}

interface NotedRequest {
  readonly method: unknown;
  readonly path: unknown;
}

interface NotedOptions {
  readonly host?: unknown;
  readonly port?: unknown;
  readonly socketPath?: unknown;
}

function noteAgentRequest(request: NotedRequest, { host, port, socketPath }: NotedOptions): void {
  if (socketPath !== undefined && socketPath !== null) return;
  const has = (name: string): boolean => {
    const value: unknown = apply(getHeader, request, [name]);
    return value !== undefined && value !== "0" && value !== 0;
  };
  const hasBody = has("content-length") || has("transfer-encoding");
  const isWebsocket = apply(getHeader, request, ["upgrade"]) === "websocket";
  const { method, path } = request;
  keepNote(host, port, bare({ method, target: path, hasBody, isWebsocket }), request);
}

type Options = Readonly<Record<string, unknown>>;
type Create = (options: Options, ...rest: unknown[]) => unknown;

/** Clients that open a connection themselves do so without an agent; they are asked what for when they do. */
function noteOwnConnections(args: readonly unknown[]): unknown[] {
  const own: unknown[] = [];
  for (let index = 0; index < args.length; index++) {
    const given = args[index];
    const isOptions = typeof given === "object" && given !== null && !types.isProxy(given);
    const create = isOptions ? getOwnPropertyDescriptor(given, "createConnection")?.value : undefined;
    append(
      own,
      typeof create === "function" ? withNotes(given as Options, create as Create, args[0]) : given,
    );
  }
  return own;
}

/** @param first of the arguments: the URL, where there is one. WHY: Node takes the path away before it connects. */
function withNotes(given: Options, create: Create, first: unknown): Options {
  const target = given["path"] ?? pathIn(first);
  return { ...given, createConnection };
  function createConnection(this: unknown, options: Options, ...rest: unknown[]): unknown {
    quietlyNoted(() => noteOptions(options, target));
    return apply(create, this, [options, ...rest]);
  }
}

function pathIn(url: unknown): string {
  const href = capturedUrl(
    typeof url === "object" ? (url as { readonly href: string }).href : (url as string),
  );
  return href === undefined ? "/" : pathOf(href);
}

function noteOptions(options: Options, target: unknown): void {
  const { host, hostname, port, defaultPort, method, headers, socketPath } = options;
  if (socketPath !== undefined && socketPath !== null) return;
  const isWebsocket = (headers as Options | undefined)?.["Upgrade"] === "websocket";
  keepNote(
    hostname ?? host ?? "localhost",
    port ?? defaultPort,
    bare({ method: method ?? "GET", target, hasBody: false, isWebsocket }),
  );
}

interface UndiciRequest {
  readonly origin: unknown;
  readonly method: unknown;
  readonly path: unknown;
  readonly body: unknown;
  readonly upgrade: unknown;
}

function noteUndici(request: UndiciRequest): void {
  const { origin, method, path, body, upgrade } = request;
  const href = capturedUrl(String(origin));
  if (href === undefined) return;
  const url = new URL(href);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port;
  const hasBody = body !== null && body !== undefined;
  const isWebsocket = upgrade === "websocket";
  keepNote(url.hostname, port, bare({ method, target: path, hasBody, isWebsocket }), request);
}

interface Noted {
  readonly method: unknown;
  readonly target: unknown;
  readonly hasBody: boolean;
  readonly isWebsocket: boolean;
}

/** @param request whose note it is, where the client has shown it */
function keepNote(host: unknown, port: unknown, noted: Noted, request?: object): void {
  const { method, target, hasBody, isWebsocket } = noted;
  const parsed = typeof host === "string" ? parseHost(host, capturedUrl) : undefined;
  const number = portOf(port);
  if (parsed === undefined || number === undefined) return;
  if (typeof method !== "string" || typeof target !== "string" || method === "CONNECT") return;
  const operation = operationOf(method, hasBody);
  const sinceMs = now();
  const within = withinNow();
  const note = bare({ host: parsed, port: number, operation, target, isWebsocket, sinceMs, within });
  if (isExact && request !== undefined) apply(set, byRequest, [request, note]);
  dropOld(sinceMs);
  const link: Link = bare({ note: freeze(note), next: undefined });
  if (newest === undefined) oldest = link;
  else newest.next = link;
  newest = link;
  count++;
}

/** WHY: a request that was given up leaves its note behind. */
function dropOld(nowMs: number): void {
  while (oldest !== undefined) {
    const ageMs = nowMs - oldest.note.sinceMs;
    if (count < NOTES_MAX && ageMs >= 0 && ageMs < NOTE_LIFE_MS) return;
    oldest = oldest.next;
    count--;
  }
  newest = undefined;
}

/** The note of the request that a connection is opened for, else the oldest that fits; it is then used up. */
export function takeNote(fits: (note: RequestNote) => boolean): RequestNote | undefined {
  const exact = opening;
  if (exact !== undefined && fits(exact)) {
    taken((note) => note === exact);
    return exact;
  }
  return taken(fits);
}

function taken(fits: (note: RequestNote) => boolean): RequestNote | undefined {
  let before: Link | undefined;
  for (let link = oldest; link !== undefined; link = link.next) {
    if (fits(link.note)) {
      if (before === undefined) oldest = link.next;
      else before.next = link.next;
      if (newest === link) newest = before;
      count--;
      return link.note;
    }
    before = link;
  }
  return undefined;
}
