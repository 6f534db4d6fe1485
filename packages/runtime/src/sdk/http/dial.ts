/**
 * One request to one address, or to a name that the guard looks up, on a connection that was kept or a new one. The name
 * stays what the server and its certificate are asked for; where the connection goes is the address alone. No proxy of the
 * environment, no redirect.
 */
import * as http from "node:http";
import * as https from "node:https";
import { isIP } from "node:net";
import { Readable, pipeline } from "node:stream";
import type { ConnectionPool } from "./connection-pool.ts";
import type { HttpCall } from "./http-call.ts";

export interface Dialled {
  readonly pool: ConnectionPool;
  readonly url: URL;
  readonly address: string;
  /** The guard of this process looks names up, and checks every address that is dialled. */
  readonly isGuarded: boolean;
  readonly call: HttpCall;
  readonly signal: AbortSignal | undefined;
}

/** A connection that was kept may be over by now: where nothing but receiving was asked, a second one is tried. */
export async function dial(dialled: Dialled): Promise<http.IncomingMessage> {
  const { call } = dialled;
  const isHarmless = call.body === undefined && ["GET", "HEAD", "OPTIONS"].includes(call.method);
  for (;;) {
    const outgoing = requestTo(dialled);
    try {
      return await answerTo(outgoing, call);
    } catch (error) {
      const isStale = outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!isStale || !isHarmless) throw error;
    }
  }
}

function requestTo({ pool, url, address, isGuarded, call, signal }: Dialled): http.ClientRequest {
  const ip = address.replace(/^\[|\]$/g, "");
  if (isIP(ip) === 0 && !isGuarded) throw new TypeError("only an address can be dialled");
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const isSecure = url.protocol === "https:";
  const { request } = isSecure ? https : http;
  return request({
    // INVARIANT: the SDK resolves nothing between its check and the connection: the address is all that it dials.
    host: ip,
    port: url.port === "" ? undefined : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method: call.method,
    headers: { host: url.host, "accept-encoding": "identity", ...Object.fromEntries(call.headers) },
    setHost: false,
    agent: isSecure ? pool.https : pool.http,
    // INVARIANT: the certificate is for the name, also where the connection is found again.
    ...(isSecure && isIP(name) === 0 ? { servername: name } : {}),
    signal,
  } as https.RequestOptions);
}

function answerTo(outgoing: http.ClientRequest, { body }: HttpCall): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
    if (body === undefined || body instanceof Uint8Array) {
      if (body !== undefined) outgoing.setHeader("content-length", body.length);
      outgoing.end(body);
      return;
    }
    // WHY: nothing is taken from a stream before there is a connection, so that another address may still be tried.
    onConnected(outgoing, () => {
      pipeline(Readable.from(body), outgoing, (error) => {
        if (error !== undefined && error !== null) reject(error);
      });
    });
  });
}

function onConnected(outgoing: http.ClientRequest, begin: () => void): void {
  outgoing.once("socket", (socket) => {
    if (socket.connecting) socket.once("connect", begin);
    else begin();
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
