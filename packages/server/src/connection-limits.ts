/** An HTTP server around an application, with bounds on heads, bodies and the time they take before any route runs. */
import { type Server as HttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createAdaptorServer } from "@hono/node-server";

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
}

export function httpServer(app: Answering, limits: ConnectionLimits, tls?: TlsFiles): HttpServer {
  const bounds = {
    maxHeaderSize: limits.headBytesMax,
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: limits.callTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.callTimeoutMs),
  };
  const fetch = (request: Request) => app.fetch(request) as Response;
  const server = createAdaptorServer(
    tls === undefined
      ? { fetch, overrideGlobalObjects: false, serverOptions: bounds }
      : {
          fetch,
          overrideGlobalObjects: false,
          createServer: createTlsServer,
          serverOptions: { ...bounds, ...tls, minVersion: "TLSv1.2" },
        },
  ) as HttpServer;
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
