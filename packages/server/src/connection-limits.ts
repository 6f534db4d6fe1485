/** An HTTP server around an application, with bounds on heads, bodies and the time they take before any route runs. */
import {
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
  createServer as createHttpServer,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { getRequestListener } from "@hono/node-server";
import { type QuickLane, takeQuick } from "./quick-lane.ts";

export interface ConnectionLimits {
  readonly headBytesMax: number;
  readonly headTimeoutMs: number;
  /** For the whole call to arrive, head and body. */
  readonly callTimeoutMs: number;
  readonly connectionsMax: number;
}

export const DEFAULT_LIMITS: ConnectionLimits = Object.freeze({
  headBytesMax: 32_768,
  headTimeoutMs: 10_000,
  callTimeoutMs: 20_000,
  connectionsMax: 8192,
});

/** PEM. */
export interface TlsFiles {
  readonly key: string | Buffer;
  readonly cert: string | Buffer;
}

export interface Answering {
  readonly fetch: (request: Request) => unknown;
  /** Left out: everything goes through `fetch`. */
  readonly lane?: QuickLane | undefined;
}

export function httpServer(app: Answering, limits: ConnectionLimits, tls?: TlsFiles): HttpServer {
  const bounds = {
    maxHeaderSize: limits.headBytesMax,
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: limits.callTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.callTimeoutMs),
  };
  const byRoutes = getRequestListener((request) => app.fetch(request), {
    overrideGlobalObjects: false,
  });
  const { lane } = app;
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (lane === undefined || !takeQuick(lane, incoming, outgoing)) void byRoutes(incoming, outgoing);
  };
  const server =
    tls === undefined
      ? createHttpServer(bounds, listener)
      : createTlsServer({ ...bounds, ...tls, minVersion: "TLSv1.2" }, listener);
  server.maxConnections = limits.connectionsMax;
  return server;
}

/** Ends every connection. */
export function closed(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
