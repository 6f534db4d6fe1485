/**
 * The server: the application on a socket. Listens on loopback unless it is told otherwise, and then only with TLS of its
 * own, behind an https origin, or with the danger named: what it answers decides, and an answer without TLS can be forged
 * on the way. Bounds heads, bodies and the time they take before any route runs.
 */
import { setMaxListeners } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { SignInLink, SignInWay } from "@sallyport/contract/admin";
import { type AdminSocket, type DoorWatch, behindDoor, listenOnSocket } from "./admin-socket.ts";
import type { AdminOptions } from "./admin/admin-options.ts";
import { Administration } from "./admin/administration.ts";
import { linkUrl } from "./admin/link-url.ts";
import { type AppOptions, createApp, createSocketApp } from "./app.ts";
import {
  type Answering,
  type ConnectionLimits,
  DEFAULT_LIMITS,
  type TlsFiles,
  closed,
  httpServer,
} from "./connection-limits.ts";
import { Outbox, type OutboxOptions } from "./notify/outbox.ts";
import { checkedWebhook } from "./notify/webhook.ts";
import { BODY_BYTES_MAX } from "./read-body.ts";
import { CallSessions } from "./runtime-api/call-sessions.ts";
import { RuntimeCredentials, type RuntimeCredentialOptions } from "./runtime-api/runtime-credentials.ts";
import { NOBODY, strangerCaller } from "./sign-in/person.ts";

export type { ConnectionLimits, TlsFiles } from "./connection-limits.ts";

export interface ServerOptions extends Omit<
  AppOptions,
  "credentials" | "sessions" | "origin" | "nowMs" | "closing" | "authenticate" | "administration"
> {
  readonly credentials: Pick<
    RuntimeCredentialOptions,
    "signingKey" | "formerKeys" | "newId" | "ttlMs" | "lifetimeMs" | "revocations"
  >;
  /** The host's own sign-in, beside that of the server; nobody unless said. */
  readonly authenticate?: AppOptions["authenticate"] | undefined;
  readonly nowMs?: (() => number) | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
}

export interface ListenOptions {
  /** `127.0.0.1` unless said. */
  readonly host?: string | undefined;
  /** A free one unless said. */
  readonly port?: number | undefined;
  /** What callers reach the server by where that is not its own address: the https origin of a proxy in front. */
  readonly origin?: string | undefined;
  /** Serves https itself. `origin` is then its name, for example `https://sallyport.example.com:4180`. */
  readonly tls?: TlsFiles | undefined;
  /** Listens beyond loopback without TLS: whoever is on the way reads passwords and forges decisions. */
  readonly unsafePlaintext?: boolean | undefined;
  /** Whether connections are taken at this address of the machine, as the kernel tells it; at all unless said. */
  readonly takesAt?: ((address: string) => boolean) | undefined;
  /** Where the command line of the owner comes in. Left out: nowhere. */
  readonly adminSocket?: AdminSocket | undefined;
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
  /** A one-time link for the first administrator. The server listens already. */
  createSignInLink(words?: { readonly name?: string; readonly ttlMs?: number }): Promise<SignInLink>;
  /** The administration API in this process, as the local administrator. For the owner's own code, listening or not. */
  readonly localFetch: (url: string, init: RequestInit) => Promise<Response>;
}

const LOOPBACK = new Set(["127.0.0.1", "::1"]);

export function createServer(options: ServerOptions): SallyportServer {
  const nowMs = options.nowMs ?? Date.now;
  const closing = new AbortController();
  // WHY: every stream and every wait listens for it.
  setMaxListeners(0, closing.signal);
  let served: string | undefined;
  const origin = (): string => {
    if (served === undefined) throw new Error("the server does not listen yet: call `listen` first");
    return served;
  };
  const credentials = new RuntimeCredentials({ ...options.credentials, audience: origin, nowMs });
  const authenticate = options.authenticate ?? (async () => null);
  const sessions = new CallSessions(nowMs);
  const parts = { ...options, credentials, sessions, origin, nowMs, closing: closing.signal, authenticate };
  const { admin } = options;
  // WHY before anything listens: a webhook that could leak or be forged is a fault of the settings.
  const webhooks = (admin?.webhooks ?? []).map(checkedWebhook);
  const administration =
    admin === undefined ? undefined : administrationOf({ ...parts, origin: () => served ?? "" }, admin);
  const app = createApp({ ...parts, administration });
  const local =
    admin === undefined || administration === undefined
      ? undefined
      : createSocketApp(parts, admin, administration);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const listen = async (words: ListenOptions = {}): Promise<Listening> => {
    const { host = "127.0.0.1", port = 0, tls, adminSocket } = words;
    if (served !== undefined) throw new Error("the server listens already");
    const named = namedOrigin(words, host);
    const server = httpServer(app, limits, tls);
    const servers = [server];
    server.on("connection", (socket: Socket) => {
      if (words.takesAt?.(socket.localAddress ?? "") === false) socket.destroy();
    });
    const bound = await boundPort(server, host, port);
    if (adminSocket !== undefined)
      servers.push(
        await openSocket(
          { app: local, limits, watch: watchOf(options, closing.signal) },
          adminSocket,
          servers,
        ),
      );
    served =
      named ??
      `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${bound}`;
    await startOutbox(options, { webhooks, origin, nowMs, closing: closing.signal });
    const close = async (): Promise<void> => {
      closing.abort();
      await Promise.all(servers.map(closed));
    };
    return Object.freeze({ origin: served, port: bound, close });
  };
  return Object.freeze({
    credentials,
    listen,
    createSignInLink: async ({
      name = "first",
      ttlMs,
    }: { readonly name?: string; readonly ttlMs?: number } = {}) => {
      const { token, expiresAt } = await required(administration).makeAdministratorLink(name, ttlMs);
      return Object.freeze({ url: linkUrl(origin(), token), expiresAt });
    },
    localFetch: async (url: string, init: RequestInit) =>
      required(local).fetch(new Request(new URL(url, "http://localhost"), init)),
  });
}

function administrationOf(parts: Omit<AppOptions, "administration">, admin: AdminOptions): Administration {
  const ways: SignInWay[] = ["link", "password", ...(admin.oidc === undefined ? [] : (["oidc"] as const))];
  return new Administration({
    ...parts,
    service: admin.service,
    bodyBytesMax: parts.bodyBytesMax ?? BODY_BYTES_MAX,
    version: admin.version,
    manifests: admin.manifests ?? (() => []),
    guide: admin.guide,
    webhookIds: (admin.webhooks ?? []).map(({ id }) => id),
    ways,
    followers: admin.followers,
    times: admin.signInTimes,
    calls: admin.calls,
  });
}

async function startOutbox(
  { admin, onFault = () => undefined }: ServerOptions,
  parts: Omit<OutboxOptions, "service" | "onFault">,
): Promise<void> {
  if (admin !== undefined) await new Outbox({ ...parts, service: admin.service, onFault }).start();
}

interface SocketParts {
  readonly app: Answering | undefined;
  readonly limits: ConnectionLimits;
  readonly watch: DoorWatch;
}

async function openSocket(
  { app, limits, watch }: SocketParts,
  socket: AdminSocket,
  opened: readonly HttpServer[],
): Promise<HttpServer> {
  const server = httpServer(behindDoor(required(app), socket.path), limits);
  try {
    await listenOnSocket(server, socket, watch);
    return server;
  } catch (error) {
    for (const other of opened) other.close();
    throw error;
  }
}

/** Whoever was refused at the socket is on record by the user id that the kernel told. */
function watchOf({ admin, onFault }: ServerOptions, closing: AbortSignal): DoorWatch {
  return {
    closing,
    onRefused: (reason, peer) => {
      const who = peer === null ? NOBODY : strangerCaller(`local:${peer.uid}`);
      required(admin)
        .service.overview.refusedSignIn(who, reason)
        .catch((error: unknown) => onFault?.(error));
    },
  };
}

function required<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("this server has no administration API: give it `admin`");
  return part;
}

/** The origin where it is not the server's own address. Throws where anybody on the way could forge answers. */
function namedOrigin(
  { origin, tls, unsafePlaintext = false }: ListenOptions,
  host: string,
): string | undefined {
  if (origin !== undefined) return checkedOrigin(origin, unsafePlaintext);
  if (tls === undefined && !unsafePlaintext && !LOOPBACK.has(host))
    throw new Error(
      `\`${host}\` is not loopback: give TLS files, or put TLS in front and give its https origin`,
    );
  if (host === "0.0.0.0" || host === "::")
    throw new Error(`\`${host}\` is no name: give the origin that people reach this server by`);
  return undefined;
}

function checkedOrigin(text: string, unsafePlaintext: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttps = url?.protocol === "https:" || (unsafePlaintext && url?.protocol === "http:");
  if (url === undefined || !isHttps || url.origin !== text)
    throw new Error(`\`${text}\` is not an https origin such as \`https://sallyport.example.com\``);
  return text;
}

function boundPort(server: HttpServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void =>
      reject(
        error.code === "EADDRINUSE"
          ? new Error(`port ${port} of \`${host}\` is in use by another program: give another port`)
          : error,
      );
    server.once("error", failed);
    server.listen(port, host, () => {
      server.off("error", failed);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
