/**
 * Where HTTP clients say what they are about to ask for: the agents of `http`, which is guarded when it is loaded, clients
 * that open their connections themselves, and every copy of undici by its diagnostics channel. What they say is a note and
 * decides nothing (`request-note.ts`).
 */
import diagnostics from "node:diagnostics_channel";
import type http from "node:http";
import { types } from "node:util";
import { capturedUrl } from "@sallyport/gate";
import { apply, getOwnPropertyDescriptor, hasOwn } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";
import { whenLoaded } from "../when-loaded.ts";
import { isTellingApart, keepNote, quietlyNoted, readHeadersBy, whileOpening } from "./request-note.ts";
import { pathOf } from "./request-part.ts";

const { isProxy } = types;

export function installNotes(): void {
  whenLoaded("http", noteAgents, "_http_agent");
  whenLoaded("http", readHeaders, "_http_outgoing");
  whenLoaded("http", noteCalls);
  whenLoaded("https", noteCalls);
  diagnostics.subscribe("undici:request:create", (message) => {
    quietlyNoted(() => noteUndici((message as { readonly request: UndiciRequest }).request));
  });
}

function readHeaders(exports: object): void {
  // oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
  readHeadersBy((exports as typeof http).OutgoingMessage.prototype.getHeader);
}

function noteAgents(exports: object): void {
  const { Agent } = exports as typeof http;
  replaceExport(
    Agent.prototype,
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
  replaceExport(
    Agent.prototype,
    "createSocket",
    (original) =>
      function createSocket(this: unknown, ...args: unknown[]) {
        if (!isTellingApart()) return apply(original, this, args);
        return whileOpening(args[0], () => apply(original, this, args));
      },
  );
}

function noteCalls(exports: object): void {
  noteCall(exports, "request");
  noteCall(exports, "get");
}

function noteCall(exports: object, name: string): void {
  replaceExport(
    exports,
    name,
    (original) =>
      function request(url: unknown, options: unknown, answered: unknown) {
        return original(noteOwnConnection(url, url), noteOwnConnection(options, url), answered);
      },
  );
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
