/**
 * HTTP/2 of clients: every stream is decided when it is asked for, before a byte of it is made. Node writes the frames by
 * itself, natively, so the headers that were decided on are a copy that the program cannot reach. A session connects when
 * its first stream has passed. A stream that is left open for a body is a send.
 */
import type http2 from "node:http2";
import { Duplex } from "node:stream";
import { refusedError } from "../blocked-call.ts";
import { apply, bare, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { type Connection, connectionOf } from "../network/connection.ts";
import { decideEndpoint } from "../network/decide-endpoint.ts";
import { type HeldConnection, holdingConnection } from "../network/guard-sockets.ts";
import { setStanding } from "../network/native-handles.ts";
import { shownValue } from "../network/not-an-endpoint.ts";
import { replaceExport } from "../replace-export.ts";
import { whenLoaded } from "../when-loaded.ts";
import { type Kept, keptFor, symbolIn } from "./kept-session.ts";
import { guardNativeSession, permitStream } from "./native-session.ts";
import { promiseSessions } from "./promised-session.ts";
import { ownerSymbol, showSession } from "./shown-session.ts";
import { type StreamRequest, streamRequest } from "./stream-request.ts";
import { connectAlone } from "./unasked-session.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- functions of any signature are wrapped
type AnyFunction = (...args: any[]) => unknown;
type Session = http2.ClientHttp2Session;
type Stream = http2.ClientHttp2Stream;

const sessions = new WeakMap<object, Kept>();
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
const { destroy } = Duplex.prototype;
/* oxlint-enable typescript/unbound-method */

const soon = setImmediate;

function keptOf(session: object): Kept | undefined {
  return apply(get, sessions, [session]) as Kept | undefined;
}

export function guardHttp2(ground: Ground): void {
  const owner = ownerSymbol();
  whenLoaded("http2", (exports) => guardExports(ground, exports as typeof http2, owner));
}

function guardExports(ground: Ground, exports: typeof http2, owner: symbol | undefined): void {
  let classes: "as Node made them" | "seen" | "guarded" = "as Node made them";
  const native = exports.connect;
  const guardClasses = (): void => {
    if (classes !== "as Node made them") return;
    classes = "seen";
    guardSessions(ground, native, owner);
    classes = "guarded";
  };
  replaceExport(
    exports,
    "connect",
    (original) =>
      function connect(...args: unknown[]) {
        guardClasses();
        // INVARIANT: no session is made whose class is not guarded; also not while that is being done.
        if (classes !== "guarded") throw refused("http2.connect");
        const at = typeof args[1] === "function" ? 2 : 1;
        const options = at === 1 ? copied(args[1]) : bare({});
        const listener = at === 1 ? args[2] : args[1];
        const { session, kept } = openSession(original, args[0], options, listener);
        if (kept === undefined) return session;
        apply(set, sessions, [session, kept]);
        // WHY then: a stream that is asked for with the session is what is decided on.
        if (kept.held !== undefined) soon(() => connectAlone(ground, session, kept));
        return session;
      },
  );
  promiseSessions(exports.connect);
  replaceExport(exports, "performServerHandshake", (original) => (...args: unknown[]) => {
    const socket = args[0];
    const connection = typeof socket === "object" && socket !== null ? connectionOf(socket) : undefined;
    if (connection !== undefined && connection.passage !== "raw") throw refused("performServerHandshake");
    return apply(original, exports, args);
  });
  // INVARIANT: the sessions of a server are of the same native class; whoever has one has it as the guard made it.
  for (const name of ["createServer", "createSecureServer", "performServerHandshake"])
    replaceExport(exports, name, (original) => (...args: unknown[]) => {
      try {
        guardClasses();
      } catch {
        // WHY: a server needs none of it; what connects is refused from here on.
      }
      return apply(original, exports, args);
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
      () => apply(original, undefined, [authority, options, listener]) as Session,
    );
    return {
      session,
      kept: held === undefined ? undefined : keptFor(session, held.connection, held),
    };
  }
  let connection: Connection | undefined;
  put(options, "createConnection", (...args: unknown[]) => {
    const socket = apply(create as AnyFunction, options, args) as { readonly _handle?: unknown };
    connection = connectionOf(socket);
    if (connection?.passage === "raw") connection = undefined;
    if (connection === undefined) return socket;
    if (connection.passage !== "requests") throw refused("http2.connect");
    connection.passage = "streams";
    setStanding(socket._handle, "taken", connection);
    return socket;
  });
  const session = apply(original, undefined, [authority, options, listener]) as Session;
  return {
    session,
    kept: connection === undefined ? undefined : keptFor(session, connection, undefined),
  };
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

/**
 * WHY not sooner: the classes are not exported, so a session that is never finished has to show them, and that takes time.
 * @throws Error where they cannot be guarded
 */
function guardSessions(ground: Ground, connect: typeof http2.connect, owner: symbol | undefined): void {
  const shown = owner === undefined ? undefined : showSession(connect, owner);
  if (shown === undefined || !guardNativeSession(shown.native))
    throw refusedError(
      "`http2.connect` is refused: this Node shows no native session that nobody else has seen",
      bare({ syscall: "http2.connect" }),
    );
  const prototype = getPrototypeOf(shown.session) as object;
  replaceExport(
    prototype,
    "request",
    (original) =>
      function request(this: Session, headers: unknown, options: unknown): Stream {
        const kept = keptOf(this);
        if (kept === undefined) return apply(original, this, [headers, options]) as Stream;
        // WHY: it throws, and says why; nothing was decided on, so nothing is asked for.
        if (!mayHold(headers) || !mayHold(options))
          return apply(original, this, [shownValue(headers), shownValue(options)]) as Stream;
        const asked = streamRequest(kept, headers, copied(options));
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
        return apply(original, this, [code, last, data]);
      },
  );
}

/** Node takes nothing but objects for headers and options. */
function mayHold(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null);
}

/**
 * WHY: Node keeps a request that is made before the session is connected, and makes it later. The guard lets it be kept
 * until it is decided on, and takes it out of what is kept.
 */
function requestLater(
  { decider }: Ground,
  session: Session,
  kept: Kept,
  original: AnyFunction,
  { headers, options, parts, own, stream: decidedStream, facts }: StreamRequest,
): Stream {
  const { connection } = kept;
  const symbol = symbolIn(session, "kPendingRequestCalls");
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
  const permitted = permitStream(connection, decidedStream);
  const ask = (): void => {
    try {
      permitted(make);
    } catch (error) {
      fail(error);
    }
  };
  const go = (): void => {
    if (stream.destroyed) return;
    const waiting = (session as unknown as Record<PropertyKey, AnyFunction[] | null>)[symbol];
    if (!isConnected && session.connecting && waiting !== null && waiting !== undefined)
      put(waiting, waiting.length, ask);
    else ask();
  };
  kept.isAsked = true;
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

/**
 * The first stream that passes opens the connection. One that names another host than the connection has needs network
 * connect besides, which is then what the addresses are checked with.
 */
function dialFor(
  decider: Ground["decider"],
  kept: Kept,
  held: HeldConnection,
  { parts, facts, go, fail }: FirstStream,
): void {
  const { endpoint, family } = held;
  const last = parts(undefined).length - 1;
  const part = (address: Parameters<typeof parts>[0]) =>
    parts(address)[last] as ReturnType<typeof parts>[number];
  decideEndpoint(decider, bare({ endpoint, family, part, facts }), (error, addresses) => {
    const dial = (blocked: unknown): void => {
      if (blocked !== undefined && blocked !== null) {
        fail(blocked);
        return;
      }
      if (kept.held !== undefined) {
        kept.held = undefined;
        held.dial(addresses);
      }
      go();
    };
    if (last === 0 || (error !== undefined && error !== null)) dial(error);
    else decider.later([parts(held.addressAmong(addresses))[0] as ReturnType<typeof part>], facts, dial);
  });
}
