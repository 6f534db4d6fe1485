/**
 * TLS inside a connection that was opened for requests: from then on the requests are followed where they are written in
 * the clear, which is the TLS socket. The name that is asked for in the handshake must be the host, because a server of
 * many names goes by it. It is read where the handshake takes it from, which is the native handle.
 * `tls` is guarded when it is loaded. A TLS socket that was made of it before that writes nothing (`native-handles.ts`).
 */
import type tls from "node:tls";
import { type Host, foldLocalHost } from "@sallyport/contract";
import { append, apply, bare, getPrototypeOf } from "../captured.ts";
import { lowered } from "../http/request-head.ts";
import { refusing } from "../refused/refused-exports.ts";
import { replaceExport } from "../replace-export.ts";
import { type Connection, connectionOf, isRaw, keepConnection, newConnection } from "./connection.ts";
import { refused } from "./handle-standing.ts";
import { ownTls, setStanding } from "./native-handles.ts";
import { putCovered } from "./tls-below.ts";

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
/** The socket that a handle was made for. */
const sockets = new WeakMap<object, object>();
/** INVARIANT: a name that was once asked for on a socket counts, whatever the socket is connected to later. */
const names = new WeakMap<object, unknown[]>();

interface Secured {
  readonly _tlsOptions?: { readonly isServer?: unknown };
}

let secure: object | undefined;

export function guardTls(exports: object): void {
  const { prototype } = (exports as typeof tls).TLSSocket;
  secure = prototype;
  replaceExport(
    prototype,
    "_wrapHandle",
    (original) =>
      function _wrapHandle(this: Secured, ...args: unknown[]) {
        const inner = args[0];
        const outer = typeof inner === "object" && inner !== null ? connectionOf(inner) : undefined;
        if (outer !== undefined && !isRaw(outer)) coverBy(this, outer, inner as object);
        const handle = apply(original, this, args);
        if (typeof handle === "object" && handle !== null) {
          ownTls(handle, (handle as { readonly _parent?: unknown })._parent);
          apply(set, sockets, [handle, this]);
        }
        const own = connectionOf(this);
        if (own !== undefined && !isRaw(own))
          setStanding(handle, own.passage === "streams" ? "taken" : "judged", own);
        return handle;
      },
  );
}

export function isSecure(socket: object): boolean {
  if (secure === undefined) return false;
  for (let holding: object | null = socket; holding !== null; holding = getPrototypeOf(holding))
    if (holding === secure) return true;
  return false;
}

/**
 * A name that TLS will ask for.
 * @throws ExternalAccessError for a handle that is not on its socket yet: nobody but the program names anything then
 */
export function keepName(handle: object, name: unknown): void {
  const socket = apply(get, sockets, [handle]) as object | undefined;
  if (socket === undefined) throw refused();
  const known = apply(get, names, [socket]) as unknown[] | undefined;
  if (known === undefined) apply(set, names, [socket, [name]]);
  else append(known, name);
  const connection = connectionOf(socket);
  if (connection !== undefined && !isHost(connection, name)) connection.hasOtherName = true;
}

/** Whether TLS of this socket was asked for another name than the host has, before it was connected to it. */
export function isOtherwiseNamed(socket: object, connection: Connection): boolean {
  const known = (apply(get, names, [socket]) as unknown[] | undefined) ?? [];
  for (let index = 0; index < known.length; index++) if (!isHost(connection, known[index])) return true;
  return false;
}

/** @throws ExternalAccessError where somebody else would write to the connection */
function coverBy(socket: Secured, outer: Connection, inner: { readonly _handle?: unknown }): void {
  if (outer.passage !== "requests" || socket._tlsOptions?.isServer === true)
    refusing("tls", "the connection was opened for requests of its own")();
  const { host, port, address } = outer;
  const connection = newConnection(bare({ host, port, isTls: true }));
  connection.address = address;
  connection.passage = "requests";
  connection.hasOtherName = isOtherwiseNamed(socket, connection);
  outer.passage = "covered";
  putCovered(connection, outer);
  setStanding(inner._handle, "taken", outer);
  keepConnection(socket, connection);
}

function isHost({ host }: Connection, name: unknown): boolean {
  if (typeof name !== "string") return false;
  const text = lowered(name, 0, name.length) as Host;
  return text === host || foldLocalHost(text) === foldLocalHost(host);
}
