/**
 * Connections, TCP and unix, and TLS over them: decided at the one method that opens every socket of Node. Where an HTTP
 * client said what it is about to ask for, that request is decided, and then only decided requests leave by the
 * connection; any other connection is network connect. It goes to the addresses that were checked. Nothing is dialled, and
 * no name is looked up, before the decision.
 */
import net from "node:net";
import { type Host, isLocalAddress } from "@sallyport/contract";
import { apply, bare, freeze, getOwnPropertyDescriptor, inNextTick, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import type { RequestNote } from "../http/noted-requests.ts";
import { type Asked, askedBy, takeNote } from "../http/request-note.ts";
import { originUrl, requestPart } from "../http/request-part.ts";
import { replaceExport } from "../replace-export.ts";
import {
  type Connection,
  forgetConnection,
  isRaw,
  keepConnection,
  letWaiting,
  makeRaw,
  newConnection,
} from "./connection.ts";
import { type EndpointQuestion, decideEndpoint } from "./decide-endpoint.ts";
import { type DialTarget, type Found, type Opened, dialNow, permitAll, whenSettled } from "./dial.ts";
import {
  type ConnectOptions,
  type Endpoint,
  type HostEndpoint,
  endpointOf,
  endpointPart,
  ownOptions,
} from "./endpoint.ts";
import { isOtherwiseNamed, isSecure } from "./guard-tls.ts";
import { isBadLookup, refuseAsNode, requireHints } from "./not-an-endpoint.ts";
import { ownSocket } from "./socket-owner.ts";

type AnyFunction = (...args: unknown[]) => unknown;

const { _normalizeArgs: normalizeArgs } = net as unknown as {
  readonly _normalizeArgs: (args: readonly unknown[]) => readonly [ConnectOptions, AnyFunction | null];
};
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { destroy } = net.Socket.prototype;
const { _undestroy: undestroy } = net.Socket.prototype as unknown as { readonly _undestroy: () => void };
/* oxlint-enable typescript/unbound-method */
const { deleteProperty } = Reflect;

/** A connection that is not dialled before somebody decided on what it is for. */
export interface HeldConnection {
  readonly connection: Connection;
  readonly endpoint: HostEndpoint;
  readonly family: unknown;
  dial(addresses: readonly Host[]): void;
  /** The one that streams are checked with. */
  addressAmong(addresses: readonly Host[]): Host | undefined;
}

let holder: ((held: HeldConnection) => void) | undefined;

/** The first connection that `work` opens is handed over and not dialled. */
export function holdingConnection<R>(hold: (held: HeldConnection) => void, work: () => R): R {
  holder = hold;
  try {
    return work();
  } finally {
    holder = undefined;
  }
}

export function guardSockets(ground: Ground): void {
  replaceExport(net.Socket.prototype, "connect", (original) => {
    return function connect(this: Opened, ...args: unknown[]): Opened {
      // WHY: `net.connect` hands over what it has normalized already, as one array.
      const given = args.length === 1 && Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
      const both = given === args ? normalizeArgs(args) : (given as [ConnectOptions, AnyFunction | null]);
      const options = both[0];
      const callback = typeof both[1] === "function" ? both[1] : undefined;
      const asked = bare({ path: options["path"], host: options["host"], port: options["port"] });
      let endpoint: Endpoint;
      try {
        endpoint = endpointOf(asked);
        if (isBadLookup(options)) throw new TypeError("a look-up is a function");
      } catch (error) {
        refuseAsNode(original as AnyFunction, this, bare({ ...options, ...asked }), error);
        return this;
      }
      if (endpoint.kind === "name") requireHints(options);
      const own = ownOptions(options);
      const family = options["family"];
      forgetConnection(this);
      // WHY: a socket that is over may be connected again, and is then not over any more, as Node sees it.
      if (this.destroyed) apply(undestroy, this, []);
      // WHY: what is written meanwhile waits for the connection.
      this.connecting = true;
      const dial = (target: DialTarget): void =>
        dialNow(original as AnyFunction, this, endpoint, own, target, callback);
      open(ground, bare({ socket: this, endpoint, family, dial }));
      return this;
    };
  });
}

interface Opening {
  readonly socket: Opened;
  readonly endpoint: Endpoint;
  readonly family: unknown;
  readonly dial: (target: DialTarget) => void;
}

function open(ground: Ground, opening: Opening): void {
  const { socket, endpoint, family } = opening;
  const hold = holder;
  holder = undefined;
  ownSocket(ground, socket, () => endpointPart(endpoint, undefined));
  if (endpoint.kind === "unix") {
    decide(
      ground,
      opening,
      undefined,
      bare({ endpoint, family, part: () => endpointPart(endpoint, undefined) }),
    );
    return;
  }
  const isTls = isSecure(socket);
  const connection = newConnection(bare({ host: endpoint.host, port: endpoint.port, isTls }));
  connection.hasOtherName = isTls && isOtherwiseNamed(socket, connection);
  keepConnection(socket, connection);
  if (hold !== undefined) {
    hold(heldConnection(opening, connection, endpoint));
    return;
  }
  const note = takeNote((one) => one.host === endpoint.host && one.port === endpoint.port);
  const asked = note === undefined ? undefined : askedBy(note);
  const url =
    note === undefined || asked === undefined
      ? undefined
      : originUrl(connection, bare({ target: note.target, isWebsocket: asked.isWebsocket }));
  if (note === undefined || asked === undefined || url === undefined) {
    connection.passage = "deciding";
    const part = (address: Host | undefined) => endpointPart(endpoint, address);
    decide(ground, opening, connection, bare({ endpoint, family, part }));
  } else openForRequest(ground, opening, connection, note, asked, url);
}

/** WHY: HTTP/2 needs the native handle at once, so the socket connects and waits for its addresses. */
function heldConnection(
  { socket, family, dial }: Opening,
  connection: Connection,
  endpoint: HostEndpoint,
): HeldConnection {
  connection.passage = "streams";
  const answer = dialSoon(dial);
  // WHY: a session that is over before it was dialled waits for an end that never comes.
  put(socket, "end", heldEnd, false);
  return freeze(
    bare({
      connection,
      endpoint,
      family,
      addressAmong: (addresses: readonly Host[]) => dialledAddress(connection.host, addresses),
      dial: (addresses: readonly Host[]): void => {
        connection.address = dialledAddress(connection.host, addresses);
        deleteProperty(socket, "end");
        permitAll(socket, addresses, endpoint.port, true, connection);
        answer(undefined, addresses);
      },
    }),
  );
}

function heldEnd(this: net.Socket): net.Socket {
  return apply(destroy, this, []);
}

/** Node makes the handle now, and is told the addresses later; it keeps what is written until then. */
function dialSoon(dial: Opening["dial"]): Found {
  let answer: Found | undefined;
  let known: { readonly error: unknown; readonly addresses: readonly Host[] } | undefined;
  dial({
    later: (found) => {
      if (known === undefined) answer = found;
      else found(known.error, known.addresses);
    },
  });
  return (error, addresses) => {
    known = bare({ error, addresses });
    answer?.(error, addresses);
  };
}

function openForRequest(
  ground: Ground,
  opening: Opening,
  connection: Connection,
  note: RequestNote,
  { operation }: Asked,
  url: string,
): void {
  const { within } = note;
  const { endpoint, family } = opening;
  const { host } = connection;
  const part = (address: Host | undefined) => requestPart(operation, url, bare({ host, address }));
  connection.decided = freeze(bare({ operation, url, note }));
  within(() => decide(ground, opening, connection, bare({ endpoint, family, part })));
}

/** Dials where it passes; else the socket ends with the error. */
function decide(
  { decider }: Ground,
  { socket, endpoint, dial }: Opening,
  connection: Connection | undefined,
  question: Omit<EndpointQuestion, "facts">,
): void {
  const facts = bare({ syscall: "connect", path: endpoint.requested });
  // WHY: a name is looked up in any case, so Node waits for it as it always does; a request is dialled when it is decided.
  const isSoon = endpoint.kind === "name" && connection?.passage === "deciding";
  const answer = isSoon ? dialSoon(dial) : undefined;
  const patient = patientWith(socket);
  decideEndpoint(decider, { ...question, facts }, (error, addresses) => {
    patient.end();
    if (error !== undefined && error !== null) {
      if (answer === undefined) apply(destroy, socket, [error as Error]);
      else answer(error, addresses);
      // WHY: behind Node's own tick, so that the socket ends with this error and no other.
      // INVARIANT: nothing of the guard is handed over with it: Node keeps what is done next where the program can look.
      if (connection !== undefined) inNextTick(() => letWaiting(connection, false), undefined);
      return;
    }
    if (socket.destroyed) return;
    if (connection !== undefined) openedBy(socket, connection, addresses);
    if (answer === undefined || endpoint.kind !== "name") {
      dial(addresses);
      return;
    }
    permitAll(socket, addresses, endpoint.port, connection !== undefined && !isRaw(connection), connection);
    answer(undefined, addresses);
  });
}

/** What may leave by it once it is there. */
export function openedBy(socket: net.Socket, connection: Connection, addresses: readonly Host[]): void {
  if (connection.passage === "deciding") {
    makeRaw(socket, connection);
    letWaiting(connection, true);
    return;
  }
  connection.address = dialledAddress(connection.host, addresses);
  whenSettled(socket, () => {
    const isOpen = !socket.destroyed;
    if (isOpen && connection.passage === "opening") connection.passage = "requests";
    letWaiting(connection, isOpen);
  });
}

/** The one that later checks are made with: a local one where there is any, none where the host is an address. */
function dialledAddress(host: Host, addresses: readonly Host[]): Host | undefined {
  const first = addresses[0];
  if (first === host) return undefined;
  for (let index = 0; index < addresses.length; index++)
    if (isLocalAddress(addresses[index] as Host)) return addresses[index];
  return first;
}

/** WHY: clients give a connection some seconds; the time that a person takes is not the time of a connection. */
function patientWith(socket: Opened): { readonly end: () => void } {
  if (getOwnPropertyDescriptor(socket, "destroy") !== undefined) return freeze({ end: () => undefined });
  put(socket, "destroy", patientDestroy, false);
  return freeze({ end: () => void deleteProperty(socket, "destroy") });
}

function patientDestroy(this: net.Socket, ...args: [Error?]): unknown {
  const { code } = (args[0] ?? {}) as { readonly code?: unknown };
  return code === "UND_ERR_CONNECT_TIMEOUT" ? this : apply(destroy, this, args);
}
