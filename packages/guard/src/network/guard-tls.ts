/**
 * TLS inside a connection that was opened for requests: from then on the requests are followed where they are written in
 * the clear, which is the TLS socket. The name that is asked for in the handshake must be the host, because a server of
 * many names goes by it.
 */
import tls from "node:tls";
import { type Host, foldLocalHost } from "@sallyport/contract";
import { apply, bare } from "../captured.ts";
import { lowered } from "../http/request-head.ts";
import { refusing } from "../refused/refused-exports.ts";
import { replaceExport } from "../replace-export.ts";
import { type Connection, connectionOf, isRaw, keepConnection, newConnection } from "./connection.ts";
import { setStanding } from "./native-handles.ts";

interface Secured {
  readonly _tlsOptions?: { readonly isServer?: unknown };
}

export function guardTls(): void {
  const { prototype } = tls.TLSSocket;
  replaceExport(
    prototype,
    "_wrapHandle",
    (original) =>
      function _wrapHandle(this: Secured, ...args: unknown[]) {
        const inner = args[0];
        const outer = typeof inner === "object" && inner !== null ? connectionOf(inner) : undefined;
        if (outer !== undefined && !isRaw(outer)) coverBy(this, outer, inner as object);
        const handle = apply(original, this, args);
        const own = connectionOf(this);
        if (own !== undefined && !isRaw(own))
          setStanding(handle, own.passage === "streams" ? "taken" : "judged", own);
        return handle;
      },
  );
  replaceExport(
    prototype,
    "setServername",
    (original) =>
      function setServername(this: object, name: unknown) {
        const connection = connectionOf(this);
        if (connection !== undefined) connection.hasOtherName = !isHost(connection, name);
        return apply(original, this, [name]);
      },
  );
}

/** @throws ExternalAccessError where somebody else would write to the connection */
function coverBy(socket: Secured, outer: Connection, inner: { readonly _handle?: unknown }): void {
  if (outer.passage !== "requests" || socket._tlsOptions?.isServer === true)
    refusing("tls", "the connection was opened for requests of its own")();
  const { host, port, address } = outer;
  const connection = newConnection(bare({ host, port, isTls: true }));
  connection.address = address;
  connection.passage = "requests";
  outer.passage = "covered";
  setStanding(inner._handle, "taken", outer);
  keepConnection(socket, connection);
}

function isHost({ host }: Connection, name: unknown): boolean {
  if (typeof name !== "string") return false;
  const text = lowered(name, 0, name.length) as Host;
  return text === host || foldLocalHost(text) === foldLocalHost(host);
}
