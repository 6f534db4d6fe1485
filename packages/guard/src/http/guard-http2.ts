/**
 * HTTP/2 of clients: every stream is decided when it is asked for, before a byte of it is made. Node writes the frames by
 * itself, natively, so the headers that were decided on are a copy that the program cannot reach. A session connects when
 * its first stream has passed. A stream that is left open for a body is a send.
 */
import { EventEmitter } from "node:events";
import http2 from "node:http2";
import { Duplex } from "node:stream";
import { refusedError } from "../blocked-call.ts";
import { apply, bare, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { type Connection, connectionOf } from "../network/connection.ts";
import { decideEndpoint } from "../network/decide-endpoint.ts";
import { type HeldConnection, holdingConnection } from "../network/guard-sockets.ts";
import { setStanding } from "../network/native-handles.ts";
import { replaceExport } from "../replace-export.ts";
import { guardNativeSession, native } from "./native-session.ts";
import { type StreamRequest, streamRequest } from "./stream-request.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- functions of any signature are wrapped
type AnyFunction = (...args: any[]) => unknown;
type Session = http2.ClientHttp2Session;
type Stream = http2.ClientHttp2Stream;

/** A session whose streams are decided. */
interface Kept {
  readonly connection: Connection;
  /** Until it is dialled. */
  held: HeldConnection | undefined;
}

const sessions = new WeakMap<object, Kept>();
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
const { destroy } = Duplex.prototype;
const { once } = EventEmitter.prototype;
/* oxlint-enable typescript/unbound-method */

function keptOf(session: object): Kept | undefined {
  return apply(get, sessions, [session]) as Kept | undefined;
}

export function guardHttp2(ground: Ground): void {
  replaceExport(
    http2,
    "connect",
    (original) =>
      function connect(...args: unknown[]) {
        const at = typeof args[1] === "function" ? 2 : 1;
        const options = at === 1 ? copied(args[1]) : bare({});
        const listener = at === 1 ? args[2] : args[1];
        const { session, kept } = openSession(original, args[0], options, listener);
        guardSessions(ground, session);
        if (kept !== undefined) apply(set, sessions, [session, kept]);
        return session;
      },
  );
  replaceExport(http2, "performServerHandshake", (original) => (...args: unknown[]) => {
    const socket = args[0];
    const connection = typeof socket === "object" && socket !== null ? connectionOf(socket) : undefined;
    if (connection !== undefined && connection.passage !== "raw") throw refused("performServerHandshake");
    return apply(original, http2, args);
  });
}

interface OpenedSession {
  readonly session: Session;
  /** None where network connect was decided on. */
  readonly kept: Kept | undefined;
}

function openSession(
  original: AnyFunction,
  authority: unknown,
  options: Record<string, unknown>,
  listener: unknown,
): OpenedSession {
  const create = options["createConnection"];
  if (typeof create !== "function") {
    let held: HeldConnection | undefined;
    const session = holdingConnection(
      (one) => void (held = one),
      () => apply(original, http2, [authority, options, listener]) as Session,
    );
    return { session, kept: held === undefined ? undefined : bare({ connection: held.connection, held }) };
  }
  let connection: Connection | undefined;
  put(options, "createConnection", (...args: unknown[]) => {
    const socket = apply(create as AnyFunction, options, args) as { readonly _handle?: unknown };
    connection = connectionOf(socket);
    if (connection?.passage === "raw") connection = undefined;
    if (connection === undefined) return socket;
    if (connection.passage !== "requests") throw refused("http2.connect");
    connection.passage = "streams";
    setStanding(socket._handle, "taken");
    return socket;
  });
  const session = apply(original, http2, [authority, options, listener]) as Session;
  return { session, kept: connection === undefined ? undefined : bare({ connection, held: undefined }) };
}

function copied(value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = bare({});
  if (typeof value !== "object" || value === null) return copy;
  const keys = ownKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (getOwnPropertyDescriptor(value, key)?.enumerable === true)
      put(copy, key, (value as Record<string, unknown>)[key]);
  }
  return copy;
}

function refused(name: string): Error {
  return refusedError(
    `\`${name}\` on a connection that was opened for other requests is refused to guarded code`,
    bare({ syscall: name }),
  );
}

let isGuarded = false;

/** WHY: the class is not exported; the first session shows it. */
function guardSessions(ground: Ground, session: Session): void {
  apply(once, session, ["connect", () => guardNativeSession(session)]);
  if (isGuarded) return;
  isGuarded = true;
  const prototype = getPrototypeOf(session) as object;
  replaceExport(
    prototype,
    "request",
    (original) =>
      function request(this: Session, headers: unknown, options: unknown): Stream {
        const kept = keptOf(this);
        if (kept === undefined) return native(() => apply(original, this, [headers, options]) as Stream);
        const asked = streamRequest(kept.connection, headers, copied(options));
        return requestLater(ground, this, kept, original, asked);
      },
  );
  const base = getPrototypeOf(prototype) as object;
  replaceExport(
    base,
    "goaway",
    (original) =>
      function goaway(this: Session, code: unknown, last: unknown, data: unknown) {
        if (keptOf(this) !== undefined && data !== undefined) throw refused("goaway");
        return apply(original, this, [code, last]);
      },
  );
}

const pendingSymbol = (session: object): PropertyKey | undefined => {
  const keys = ownKeys(session);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (typeof key === "symbol" && key.description === "kPendingRequestCalls") return key;
  }
  return undefined;
};

/**
 * WHY: Node keeps a request that is made before the session is connected, and makes it later. The guard lets it be kept
 * until it is decided on, and takes it out of what is kept.
 */
function requestLater(
  { decider }: Ground,
  session: Session,
  kept: Kept,
  original: AnyFunction,
  { headers, options, parts, own, facts }: StreamRequest,
): Stream {
  const symbol = pendingSymbol(session);
  if (symbol === undefined) throw refused("http2.request");
  const isConnected = !session.connecting;
  put(session, "connecting", true);
  let stream: Stream;
  try {
    stream = apply(original, session, [headers, options]) as Stream;
  } finally {
    Reflect.deleteProperty(session, "connecting");
  }
  const calls = (session as unknown as Record<PropertyKey, AnyFunction[] | null>)[symbol];
  const make = calls === null || calls === undefined ? undefined : calls[calls.length - 1];
  if (calls === null || calls === undefined || make === undefined) return stream;
  calls.length -= 1;
  const fail = (error: unknown): void => void apply(destroy, stream, [error as Error]);
  const go = (): void => {
    if (stream.destroyed) return;
    const waiting = (session as unknown as Record<PropertyKey, AnyFunction[] | null>)[symbol];
    if (!isConnected && session.connecting && waiting !== null && waiting !== undefined)
      put(waiting, waiting.length, () => native(make));
    else native(make);
  };
  const { connection } = kept;
  const { decided } = connection;
  connection.decided = undefined;
  if (kept.held !== undefined) dialFor(decider, kept, kept.held, { parts, facts, go, fail });
  else if (decided !== undefined && own !== undefined && isSame(decided, own)) go();
  else
    decider.later(parts(connection.address), facts, (blocked) => {
      if (blocked === undefined) go();
      else fail(blocked);
    });
  return stream;
}

function isSame(one: NonNullable<Connection["decided"]>, other: NonNullable<Connection["decided"]>): boolean {
  return one.operation === other.operation && one.url === other.url;
}

interface FirstStream extends Pick<StreamRequest, "parts" | "facts"> {
  readonly go: () => void;
  readonly fail: (error: unknown) => void;
}

/** The first stream that passes opens the connection. */
function dialFor(
  decider: Ground["decider"],
  kept: Kept,
  held: HeldConnection,
  { parts, facts, go, fail }: FirstStream,
): void {
  const { endpoint, family } = held;
  const rest = parts(undefined);
  if (rest.length > 1) {
    fail(refused("http2.request"));
    return;
  }
  const part = (address: Parameters<typeof parts>[0]) =>
    parts(address)[0] as ReturnType<typeof parts>[number];
  decideEndpoint(decider, bare({ endpoint, family, part, facts }), (error, addresses) => {
    if (error !== undefined && error !== null) {
      fail(error);
      return;
    }
    if (kept.held !== undefined) {
      kept.held = undefined;
      held.dial(addresses);
    }
    go();
  });
}
