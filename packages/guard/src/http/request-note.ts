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
import { apply, bare, getOwnPropertyDescriptor, hasOwn } from "../captured.ts";
import { portOf } from "../network/endpoint.ts";
import { replaceExport } from "../replace-export.ts";
import { type Within, withinNow } from "../within-context.ts";
import { type RequestNote, addNote, takeOldest } from "./noted-requests.ts";
import { operationOf, pathOf } from "./request-part.ts";

// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { getHeader } = http.OutgoingMessage.prototype;
const { isProxy } = types;

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
let isExact = false;
/** As whoever asks, while there is the process alone; as the process, once there are subjects. */
let inProcess: Within | undefined;
const asProcess: Within = (work) => {
  if (inProcess === undefined) work();
  else inProcess(work);
};
/** Notes by their request, and the request of undici that is written to a socket now. */
const byRequest = new WeakMap<object, RequestNote>();
const sending = new WeakMap<object, object>();
/** Of the request that a connection is opened for at this moment. */
let opening: RequestNote | undefined;

/** From here on requests of several subjects are told apart. */
export function noteExactly(): void {
  if (isExact) return;
  isExact = true;
  inProcess = withinNow();
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

/** Requests of several subjects are told apart by their notes. */
export function isTellingApart(): boolean {
  return isExact;
}

/** The note of the request whose head is written to the socket now, where it can be told. */
export function noteWrittenTo(socket: object): RequestNote | undefined {
  if (!isExact) return undefined;
  const message: unknown = getOwnPropertyDescriptor(socket, "_httpMessage")?.value;
  return noteOf(message) ?? noteOf(apply(get, sending, [socket]));
}

export function installNotes(): void {
  replaceExport(
    http.Agent.prototype,
    "addRequest",
    (original) =>
      function addRequest(
        this: unknown,
        request: unknown,
        options: unknown,
        port: unknown,
        localAddress: unknown,
      ) {
        noteAgentRequest(request as NotedRequest, options as NotedOptions);
        return apply(original, this, [request, options, port, localAddress]);
      },
  );
  for (const exports of [http, https])
    for (const name of ["request", "get"])
      replaceExport(
        exports,
        name,
        (original) =>
          function request(url: unknown, options: unknown, answered: unknown) {
            return original(noteOwnConnection(url, url), noteOwnConnection(options, url), answered);
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

/** WHY its headers are not read: most requests leave by a connection that is there, and nobody asks. */
function noteAgentRequest(request: NotedRequest, options: NotedOptions): void {
  try {
    const { host, port, socketPath } = options;
    if (socketPath !== undefined && socketPath !== null) return;
    const { method, path } = request;
    keepNote(host, port, method, path, "unread", false, request);
  } catch {
    // As in `quietlyNoted`, without a closure for every request.
  }
}

/** What the request of a note is. */
export interface Asked {
  readonly operation: "receive" | "send";
  readonly isWebsocket: boolean;
}

/** `undefined`: it cannot be told. What is read here decides nothing, as all of a note. */
export function askedBy({ method, body, isWebsocket, request }: RequestNote): Asked | undefined {
  switch (body) {
    case "none":
    case "some":
      return bare({ operation: operationOf(method, body === "some"), isWebsocket });
    case "unread": {
      let asked: Asked | undefined;
      quietlyNoted(() => {
        const hasBody = hasHeader(request, "content-length") || hasHeader(request, "transfer-encoding");
        const isUpgrade = apply(getHeader, request, ["upgrade"]) === "websocket";
        asked = bare({ operation: operationOf(method, hasBody), isWebsocket: isUpgrade });
      });
      return asked;
    }
  }
}

function hasHeader(request: object | undefined, name: string): boolean {
  const value: unknown = apply(getHeader, request, [name]);
  return value !== undefined && value !== "0" && value !== 0;
}

type Options = Readonly<Record<string, unknown>>;
type Create = (options: Options, ...rest: unknown[]) => unknown;

/** Clients that open a connection themselves do so without an agent; they are asked what for when they do. */
function noteOwnConnection(given: unknown, first: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  if (!hasOwn(given, "createConnection") || isProxy(given)) return given;
  const create: unknown = getOwnPropertyDescriptor(given, "createConnection")?.value;
  return typeof create === "function" ? withNotes(given as Options, create as Create, first) : given;
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
  const noted = hostname ?? host ?? "localhost";
  keepNote(noted, port ?? defaultPort, method ?? "GET", target, "none", isWebsocket, undefined);
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
  if (typeof origin !== "string" || origin !== lastOrigin) {
    const href = capturedUrl(String(origin));
    if (href === undefined) return;
    const url = new URL(href);
    lastOriginHost = url.hostname;
    lastOriginPort = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port;
    lastOrigin = typeof origin === "string" ? origin : "";
  }
  const carried = body !== null && body !== undefined ? "some" : "none";
  keepNote(lastOriginHost, lastOriginPort, method, path, carried, upgrade === "websocket", request);
}

/** WHY kept: as with hosts. What stands here for an origin that is no text holds for one request. */
let lastOrigin = "";
let lastOriginHost: unknown;
let lastOriginPort: unknown;

/** @param request whose note it is, where the client has shown it */
function keepNote(
  host: unknown,
  port: unknown,
  method: unknown,
  target: unknown,
  body: RequestNote["body"],
  isWebsocket: boolean,
  request: object | undefined,
): void {
  const parsed = typeof host === "string" ? hostIn(host) : undefined;
  const number = portOf(port);
  if (parsed === undefined || number === undefined) return;
  if (typeof method !== "string" || typeof target !== "string" || method === "CONNECT") return;
  const within = isExact ? withinNow() : asProcess;
  const note = {
    host: parsed,
    port: number,
    method,
    target,
    body,
    isWebsocket,
    request,
    sinceMs: undefined,
    within,
    next: undefined,
  };
  if (isExact && request !== undefined) apply(set, byRequest, [request, note]);
  addNote(note);
}

let lastText = "";
let lastHost: Host | undefined;

/** WHY the last one is kept: a client asks one host again and again. A text means the same each time. */
function hostIn(text: string): Host | undefined {
  if (text === lastText) return lastHost;
  lastHost = parseHost(text, capturedUrl);
  lastText = text;
  return lastHost;
}

/** The note of the request that a connection is opened for, else the oldest that fits; it is then used up. */
export function takeNote(fits: (note: RequestNote) => boolean): RequestNote | undefined {
  const exact = opening;
  if (exact !== undefined && fits(exact)) {
    takeOldest((note) => note === exact);
    return exact;
  }
  return takeOldest(fits);
}
