/**
 * What HTTP clients are about to ask for, as far as they say so before they connect: the agents of `http`, and every
 * copy of undici by its diagnostics channel. A note decides nothing. It says which question is asked when a connection is
 * opened, in whose name, and in whose name a request on a shared connection is decided; what leaves is read from the bytes.
 * INVARIANT: a note that was made up opens nothing but a connection whose every request is decided.
 */
import diagnostics from "node:diagnostics_channel";
import http from "node:http";
import https from "node:https";
import { types } from "node:util";
import { type Host, parseHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import { append, apply, bare, bindContext, freeze, getOwnPropertyDescriptor } from "../captured.ts";
import { portOf } from "../network/endpoint.ts";
import { replaceExport } from "../replace-export.ts";
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
  readonly within: (work: () => void) => void;
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
  keepNote(host, port, bare({ method, target: path, hasBody, isWebsocket }));
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

function noteUndici({ origin, method, path, body, upgrade }: UndiciRequest): void {
  const href = capturedUrl(String(origin));
  if (href === undefined) return;
  const url = new URL(href);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port;
  const hasBody = body !== null && body !== undefined;
  keepNote(url.hostname, port, bare({ method, target: path, hasBody, isWebsocket: upgrade === "websocket" }));
}

interface Noted {
  readonly method: unknown;
  readonly target: unknown;
  readonly hasBody: boolean;
  readonly isWebsocket: boolean;
}

function keepNote(host: unknown, port: unknown, { method, target, hasBody, isWebsocket }: Noted): void {
  const parsed = typeof host === "string" ? parseHost(host, capturedUrl) : undefined;
  const number = portOf(port);
  if (parsed === undefined || number === undefined) return;
  if (typeof method !== "string" || typeof target !== "string" || method === "CONNECT") return;
  const operation = operationOf(method, hasBody);
  const sinceMs = now();
  const within = withinNow();
  const note = bare({ host: parsed, port: number, operation, target, isWebsocket, sinceMs, within });
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

/** WHY: foreign code may find the bound function and call it; it does only what the guard has left for it. */
function withinNow(): (work: () => void) => void {
  let left: (() => void) | undefined;
  const bound = bindContext(() => {
    const work = left;
    left = undefined;
    work?.();
  });
  return (work) => {
    left = work;
    bound();
    left = undefined;
  };
}

/** The oldest note that fits, which is then used up. */
export function takeNote(fits: (note: RequestNote) => boolean): RequestNote | undefined {
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
