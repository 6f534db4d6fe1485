/**
 * The server: the application on a socket. Listens on loopback unless its origin is https, because what it answers
 * decides, and an answer without TLS can be forged on the way.
 * Bounds heads, bodies and the time they take before any route runs.
 */
import { type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type AppOptions, createApp } from "./app.ts";
import { RuntimeCredentials, type RuntimeCredentialOptions } from "./runtime-api/runtime-credentials.ts";

export interface ServerOptions extends Omit<AppOptions, "credentials" | "origin" | "nowMs" | "closing"> {
  readonly credentials: Pick<
    RuntimeCredentialOptions,
    "signingKey" | "formerKeys" | "newId" | "ttlMs" | "lifetimeMs" | "revocations"
  >;
  readonly nowMs?: (() => number) | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
}

export interface ConnectionLimits {
  readonly headBytesMax: number;
  readonly headTimeoutMs: number;
  /** For the whole call to arrive, head and body. */
  readonly callTimeoutMs: number;
  readonly connectionsMax: number;
}

const DEFAULT_LIMITS: ConnectionLimits = Object.freeze({
  headBytesMax: 32_768,
  headTimeoutMs: 10_000,
  callTimeoutMs: 20_000,
  connectionsMax: 8192,
});

export interface ListenOptions {
  /** `127.0.0.1` unless said. */
  readonly host?: string | undefined;
  /** A free one unless said. */
  readonly port?: number | undefined;
  /** What callers reach the server by where that is not its own address: the https origin of a proxy in front. */
  readonly origin?: string | undefined;
}

export interface Listening {
  readonly origin: string;
  readonly port: number;
  /** Ends every wait and every connection. */
  close(): Promise<void>;
}

export interface SallyportServer {
  /** For the host's own code: issues, renews and revokes. */
  readonly credentials: RuntimeCredentials;
  listen(options?: ListenOptions): Promise<Listening>;
}

const LOOPBACK = new Set(["127.0.0.1", "::1"]);

export function createServer(options: ServerOptions): SallyportServer {
  const nowMs = options.nowMs ?? Date.now;
  const closing = new AbortController();
  let served: string | undefined;
  const origin = (): string => {
    if (served === undefined) throw new Error("the server does not listen yet: call `listen` first");
    return served;
  };
  const credentials = new RuntimeCredentials({ ...options.credentials, audience: origin, nowMs });
  const app = createApp({ ...options, credentials, origin, nowMs, closing: closing.signal });
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  return Object.freeze({
    credentials,
    listen: async ({ host = "127.0.0.1", port = 0, origin: given }: ListenOptions = {}) => {
      if (served !== undefined) throw new Error("the server listens already");
      const named = given === undefined ? undefined : httpsOrigin(given);
      if (named === undefined && !LOOPBACK.has(host))
        throw new Error(`\`${host}\` is not loopback: put TLS in front and give its https origin`);
      const server = httpServer(app, limits);
      const bound = await boundPort(server, host, port);
      served = named ?? `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
      return Object.freeze({ origin: served, port: bound, close: () => closed(server, closing) });
    },
  });
}

function httpServer(
  app: { readonly fetch: (request: Request) => unknown },
  limits: ConnectionLimits,
): HttpServer {
  const server = createAdaptorServer({
    fetch: (request) => app.fetch(request),
    overrideGlobalObjects: false,
    serverOptions: {
      maxHeaderSize: limits.headBytesMax,
      headersTimeout: limits.headTimeoutMs,
      requestTimeout: limits.callTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, limits.callTimeoutMs),
    },
  }) as HttpServer;
  server.maxConnections = limits.connectionsMax;
  return server;
}

function httpsOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.protocol !== "https:" || url.origin !== text)
    throw new Error(`\`${text}\` is not an https origin such as \`https://sallyport.example.com\``);
  return text;
}

function boundPort(server: HttpServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function closed(server: HttpServer, closing: AbortController): Promise<void> {
  closing.abort();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
