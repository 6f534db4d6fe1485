/**
 * What of the network has no guarded form yet is refused. HTTP is checked per request, not per connection, and there is
 * no check of requests here yet; so http, https, http2, fetch, WebSocket and EventSource are refused as such, although
 * the sockets below them are guarded. Listening, datagrams and own resolvers are refused.
 */
import dgram from "node:dgram";
import dns from "node:dns";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { apply, getOwnPropertyDescriptor, ownKeys } from "../captured.ts";
import { refusal, refusing } from "../refused/refused-exports.ts";
import { replaceExport } from "../replace-export.ts";

const WHY = "this guard has no check for it yet: use the `http` of the SDK";

/** Functions of `dns` that send nothing, and the one that is guarded. */
export const SILENT_DNS: readonly string[] = Object.freeze([
  "Resolver",
  "lookup",
  "getDefaultResultOrder",
  "getServers",
  "setDefaultResultOrder",
]);

/** Methods of a datagram socket that send or receive, or open it. */
export const REFUSED_DGRAM: readonly string[] = Object.freeze([
  "bind",
  "bindSync",
  "connect",
  "connectSync",
  "send",
  "sendto",
]);

export function refuseNetwork(): void {
  replaceExport(http.Agent.prototype, "addRequest", () => refusing("http.request", WHY));
  // WHY: not thrown, since Node drops what is thrown here, and the request would wait for ever.
  replaceExport(
    http.ClientRequest.prototype,
    "onSocket",
    (original) =>
      function onSocket(this: object) {
        return apply(original, this, [null, refusal("http.request", WHY)]);
      },
  );
  replaceExport(http2, "connect", () => refusing("http2.connect", WHY));
  for (const name of ["fetch", "WebSocket", "EventSource"])
    replaceExport(globalThis, name, () => refusing(name, WHY));
  replaceExport(net.Server.prototype, "listen", () => refusing("net.listen", WHY));
  for (const name of ["BoundSocket", "_TransferredBoundSocket", "_createServerHandle"])
    replaceExport(net, name, () => refusing(`net.${name}`, WHY));
  for (const name of REFUSED_DGRAM)
    replaceExport(dgram.Socket.prototype, name, () => refusing(`dgram.${name}`, WHY));
  for (const exports of [dns, dns.promises]) {
    refuseFunctions(exports, "dns");
    refuseFunctions(exports.Resolver.prototype, "dns.Resolver");
    // WHY: both share a class that is not exported.
    refuseFunctions(Object.getPrototypeOf(exports.Resolver.prototype) as object, "dns.Resolver");
  }
}

function refuseFunctions(holder: object, label: string): void {
  if (holder === Object.prototype) return;
  for (const key of ownKeys(holder)) {
    if (typeof key !== "string" || key === "constructor" || SILENT_DNS.includes(key)) continue;
    if (typeof getOwnPropertyDescriptor(holder, key)?.value === "function")
      replaceExport(holder, key, () => refusing(`${label}.${key}`, WHY));
  }
}
