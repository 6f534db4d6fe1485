/**
 * `fetch` over a unix socket: the way of the command line to the owner of a data folder. Speaks to that one socket
 * whatever host a URL names; follows nothing.
 */
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";

/** The host name in calls over a socket; nothing is resolved. */
export const SOCKET_ORIGIN = "http://localhost";

export function socketFetch(socketPath: string): (url: string, init: RequestInit) => Promise<Response> {
  return (url, init) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url);
      const { method = "GET", headers, body, signal } = init;
      const call = request(
        {
          socketPath,
          path: `${pathname}${search}`,
          method,
          headers: Object.fromEntries(new Headers(headers)),
          ...(signal === null || signal === undefined ? {} : { signal }),
        },
        (message) => resolve(responseOf(message)),
      );
      call.once("error", reject);
      call.end(typeof body === "string" ? body : undefined);
    });
}

const BODYLESS = new Set([204, 205, 304]);

function responseOf(message: IncomingMessage): Response {
  const { statusCode: status = 500 } = message;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers))
    for (const one of [value ?? []].flat()) headers.append(name, one);
  if (BODYLESS.has(status)) {
    message.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(message) as ReadableStream<Uint8Array>, { status, headers });
}

/** Whether somebody listens: `refused` where a dead owner left the file, `closed` where it is not ours to open. */
export function tryingSocket(path: string): Promise<"answers" | "nobody" | "closed"> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve("answers");
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code === "EACCES" || error.code === "EPERM" ? "closed" : "nobody");
    });
  });
}
