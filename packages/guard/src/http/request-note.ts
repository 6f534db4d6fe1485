/**
 * What HTTP clients are about to ask for, as far as they say so before they connect (`note-clients.ts`). A note decides
 * nothing. It says which question is asked when a connection is opened, in whose name, and in whose name a request on a
 * shared connection is decided; what leaves is read from the bytes.
 * INVARIANT: a note that was made up opens nothing but a connection whose every request is decided.
 * In a process that runs several subjects a note is found by its request, since two of them may ask for the same URL.
 */
import diagnostics from "node:diagnostics_channel";
import { type Host, parseHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import { apply, bare, getOwnPropertyDescriptor } from "../captured.ts";
import { portOf } from "../network/endpoint.ts";
import { type Within, withinNow } from "../within-context.ts";
import { type RequestNote, addNote, takeOldest } from "./noted-requests.ts";
import { operationOf } from "./request-part.ts";

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
type GetHeader = (this: unknown, name: string) => unknown;
/** Node's own, of which there is none before `http` is loaded; nor are there headers to read. */
let getHeader: GetHeader = () => undefined;

/** By which the headers of requests are read. */
export function readHeadersBy(own: GetHeader): void {
  getHeader = own;
}

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

/** What is opened meanwhile is opened for this request. */
export function whileOpening<R>(request: unknown, work: () => R): R {
  const before = opening;
  opening = noteOf(request);
  try {
    return work();
  } finally {
    opening = before;
  }
}

/** WHY: what a client hands over may be anything; without a note its connection is a raw one. */
export function quietlyNoted(note: () => void): void {
  try {
    note();
  } catch {
    // Nothing is noted, nothing is opened by it.
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

/** @param request whose note it is, where the client has shown it */
export function keepNote(
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
