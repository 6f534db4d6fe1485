/**
 * One request over one connection of its own to one address. The name stays what the server and its certificate are
 * asked for; where the connection goes is the address alone. No pool, no proxy of the environment, no redirect.
 */
import * as http from "node:http";
import * as https from "node:https";
import { isIP } from "node:net";
import type { HttpCall } from "./http-call.ts";

export interface Dialled {
  readonly url: URL;
  readonly address: string;
  readonly call: HttpCall;
  readonly signal: AbortSignal | undefined;
}

export function dial({ url, address, call, signal }: Dialled): Promise<http.IncomingMessage> {
  const ip = address.replace(/^\[|\]$/g, "");
  const family = isIP(ip);
  if (family === 0) throw new TypeError("only an address can be dialled");
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: name,
      port: url.port === "" ? undefined : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method: call.method,
      headers: { host: url.host, "accept-encoding": "identity", ...Object.fromEntries(call.headers) },
      setHost: false,
      agent: false,
      ...(isIP(name) === 0 ? { servername: name } : {}),
      signal,
      autoSelectFamily: false,
      lookup: (_name, options, done) => {
        // INVARIANT: nothing is resolved again between the check and the connection.
        if (options.all === true) done(null, [{ address: ip, family }]);
        else done(null, ip, family);
      },
    } as https.RequestOptions);
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
    if (call.body !== undefined) outgoing.setHeader("content-length", call.body.length);
    outgoing.end(call.body);
  });
}

const NOT_REACHED: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
]);

/** Nothing was sent: another address of the name may be tried. */
export function wasNotReached(error: unknown): boolean {
  return NOT_REACHED.has((error as NodeJS.ErrnoException).code);
}
