/**
 * The egress gateway of one sandbox: the one way out. It is given the sockets that catch what the program dials, finds
 * out what each connection is, has it decided, and only then dials. Outside the sandbox; trusts no byte that comes in.
 * INVARIANT: no path here reaches a server without an admission, and a fault anywhere ends the connection.
 */
import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { type Host, isIpLiteral, parseHost, parseNetworkTarget, whatwgUrl } from "@sallyport/contract";
import { Admissions, type Resolve } from "./admission.ts";
import { type CertificateAuthority, openAuthority } from "./certificate-authority.ts";
import { type ClientHello, readClientHello } from "./client-hello.ts";
import { recordDatagrams } from "./datagram-record.ts";
import { type DialOptions, Dialer } from "./dial.ts";
import { firstBytes, reset } from "./first-bytes.ts";
import { HttpExchanges } from "./http-exchanges.ts";
import { LiveConnections } from "./live-connections.ts";
import type { NetworkDecider, NetworkQuestion, Refusal } from "./network-question.ts";
import { serveDatagrams, serveStream } from "./name-service.ts";
import { type Endpoint, type RawParts, connectTo, passRaw } from "./raw-passage.ts";
import { SOCKS_VERSION, greetSocks } from "./socks-greeting.ts";
import { TlsEnds } from "./tls-ends.ts";
import { SyntheticNames, isSynthetic } from "./synthetic-names.ts";

export interface EgressOptions extends DialOptions {
  readonly decider: NetworkDecider;
  readonly resolve?: Resolve | undefined;
  /** How long a program may stay silent before it is taken for one that waits for the server's first word. */
  readonly silentMs?: number | undefined;
}

/** Where the gateway listens inside; proxy variables name it too. */
export const CATCH_PORT = 15_001;

const NAME_PORT = 53;
const SILENT_MS = 5000;
/** WHY shorter: nobody is asked, so a server that speaks first need not be kept waiting. */
const OPEN_SILENT_MS = 50;
/** Programs open these early and stay silent; nobody is asked about that. */
const SILENT_PORTS: readonly number[] = [80, 443, 8080, 8443];
const CONNECTIONS_MAX = 4096;
const REQUEST_START = /^[A-Z]{1,24}(?: |$)/;
const HTTP2_PREFACE = "PRI * HTTP/2.0";

export class EgressGateway {
  readonly authority: CertificateAuthority = openAuthority(Date.now());
  readonly #decider: NetworkDecider;
  readonly #names = new SyntheticNames();
  readonly #admissions: Admissions;
  readonly #dialer: Dialer;
  readonly #live: LiveConnections;
  readonly #raw: RawParts;
  readonly #exchanges: HttpExchanges;
  readonly #ends: TlsEnds;
  readonly #silentMs: number;
  readonly #streams = new Set<Duplex>();
  readonly #servers: { close(): unknown }[] = [];
  readonly #unwatch: () => void;
  #isClosed = false;

  constructor(options: EgressOptions) {
    const { decider, resolve, silentMs = SILENT_MS } = options;
    this.#decider = decider;
    this.#silentMs = silentMs;
    this.#dialer = new Dialer(options);
    this.#live = new LiveConnections(decider);
    const isProxied = (host: Host): boolean => this.#dialer.isProxied(host);
    this.#admissions = new Admissions({ decider, resolve, isProxied, now: Date.now });
    this.#unwatch = decider.watch?.(() => void this.recheck()) ?? (() => undefined);
    const raw = { decider, admissions: this.#admissions, dialer: this.#dialer, live: this.#live };
    this.#raw = raw;
    this.#ends = new TlsEnds({
      authority: this.authority,
      onSecured: (secured, endpoint) => this.#follow(secured, () => this.#readSecured(secured, endpoint)),
      onPinned: (endpoint) => this.#pinned(endpoint),
    });
    this.#exchanges = new HttpExchanges({
      ...raw,
      onTunnel: (stream, authority) => this.#tunnel(stream, authority),
    });
  }

  /** Connections that are open to servers now. */
  get openCount(): number {
    return this.#live.size;
  }

  /** The socket that catches connections. */
  catchStreams(server: Server): void {
    if (this.#isClosed) {
      server.close();
      return;
    }
    this.#servers.push(server);
    server.maxConnections = CONNECTIONS_MAX;
    Object.assign(server, { allowHalfOpen: true });
    server.on("error", () => undefined);
    server.on("connection", (socket) => this.#caught(socket));
  }

  /** The socket that catches questions for names. */
  catchNames(handle: unknown): void {
    const service = serveDatagrams(handle, this.#names);
    if (this.#isClosed) service.close();
    else this.#servers.push(service);
  }

  /** The socket that catches the first datagram to each destination. */
  catchDatagrams(handle: unknown): void {
    const record = recordDatagrams(handle, this.#names, this.#decider);
    if (this.#isClosed) record.close();
    else this.#servers.push(record);
  }

  /** Something was approved, denied, revoked or lost: what is no longer allowed is cut off. */
  recheck(): Promise<void> {
    this.#exchanges.clear();
    return this.#live.recheck();
  }

  /** INVARIANT: afterwards nothing gets out and nothing comes in. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unwatch();
    for (const server of this.#servers) server.close();
    this.#live.close();
    for (const stream of this.#streams) stream.destroy();
    this.#exchanges.close();
  }

  #caught(socket: Socket): void {
    const address = (socket.localAddress ?? "").replace(/^::ffff:/, "");
    const port = socket.localPort ?? 0;
    socket.setNoDelay(true);
    this.#follow(socket, async () => {
      if (isLoopback(address) && port === CATCH_PORT) return this.#serveProxy(socket);
      if (port === NAME_PORT && !this.#isNamed(address)) return serveStream(socket, this.#names);
      const host = isSynthetic(address) ? this.#names.nameOf(address) : parseHost(address, whatwgUrl);
      if (host === undefined || port === 0) {
        this.#refuse(socket, { operation: "connect", target: `${address}:${port}` }, "unknown_name");
        return undefined;
      }
      return this.#route(socket, { host, port });
    });
  }

  /** Every stream ends with its task, and every task with the gateway. */
  #follow(stream: Duplex, task: () => Promise<void>): void {
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    stream.on("error", () => stream.destroy());
    if (this.#isClosed) stream.destroy();
    else task().catch(() => stream.destroy());
  }

  #isNamed(address: string): boolean {
    return this.#names.nameOf(address) !== undefined;
  }

  async #serveProxy(socket: Socket): Promise<void> {
    const bytes = await firstBytes(socket, () => true, undefined);
    if (bytes[0] !== SOCKS_VERSION) {
      this.#exchanges.serve(socket, { kind: "proxy" });
      return;
    }
    const outcome = await greetSocks(socket);
    if (outcome.kind === "destination") await this.#route(socket, outcome);
    else this.#decider.violated({ operation: "connect", target: outcome.wanted }, "invalid_target");
  }

  #tunnel(stream: Duplex, authority: string): void {
    const parsed = parseNetworkTarget(authority, whatwgUrl);
    const isFit = parsed.ok && parsed.value.form === "endpoint" && parsed.value.port !== undefined;
    if (!isFit) {
      this.#decider.violated({ operation: "connect", target: authority }, "invalid_target");
      stream.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    const { host, port } = parsed.value as Endpoint;
    stream.write("HTTP/1.1 200 Connection established\r\n\r\n");
    this.#follow(stream, () => this.#route(stream, { host, port }));
  }

  /** What is it? */
  async #route(stream: Duplex, endpoint: Endpoint): Promise<void> {
    const isOpen = this.#decider.foresees(connectTo(endpoint));
    const silentMs = SILENT_PORTS.includes(endpoint.port)
      ? undefined
      : isOpen
        ? OPEN_SILENT_MS
        : this.#silentMs;
    const bytes = await firstBytes(stream, isWhole, silentMs);
    if (stream.destroyed) return undefined;
    const hello = bytes.length === 0 ? ({ kind: "other" } as const) : readClientHello(bytes);
    switch (hello.kind) {
      case "other":
        if (looksLikeRequest(bytes)) {
          this.#exchanges.serve(stream, { ...endpoint, kind: "origin", isSecure: false, isOpen });
          return undefined;
        }
        return this.#passRaw(stream, endpoint, "plain");
      case "hello":
        return this.#greeted(stream, endpoint, hello, isOpen);
      case "short":
      case "broken":
        this.#refuse(stream, connectTo(endpoint), "broken_greeting");
        return undefined;
    }
  }

  async #greeted(
    stream: Duplex,
    endpoint: Endpoint,
    { serverName, hidesName }: Extract<ClientHello, { readonly kind: "hello" }>,
    isOpen: boolean,
  ): Promise<void> {
    if (!this.#isNameOf(serverName, endpoint.host)) {
      this.#refuse(stream, connectTo(endpoint), "name_mismatch");
      return;
    }
    // INVARIANT: a greeting that hides a name never passes untouched; where it is taken here, only the open name counts.
    if (isOpen && !hidesName) await this.#passRaw(stream, endpoint, "plain");
    else this.#ends.serve(stream as Socket, endpoint);
  }

  #isNameOf(serverName: string | undefined, host: Host): boolean {
    if (serverName === undefined) return isIpLiteral(host);
    const named = parseHost(serverName, whatwgUrl);
    if (named === host) return true;
    return named !== undefined && isIpLiteral(host) && this.#admissions.aliasesOf(host).includes(named);
  }

  async #readSecured(secured: TLSSocket, endpoint: Endpoint): Promise<void> {
    const isOpen = this.#decider.foresees(connectTo(endpoint));
    const passage = { ...endpoint, kind: "origin", isSecure: true, isOpen } as const;
    if (secured.alpnProtocol === "h2") {
      this.#exchanges.serve(secured, passage, 2);
      return;
    }
    const silentMs = SILENT_PORTS.includes(endpoint.port) ? undefined : this.#silentMs;
    const bytes = await firstBytes(secured, () => true, silentMs);
    if (looksLikeRequest(bytes)) this.#exchanges.serve(secured, passage);
    else if (!secured.destroyed) await this.#passRaw(secured, endpoint, "secure");
  }

  async #passRaw(stream: Duplex, endpoint: Endpoint, level: "plain" | "secure"): Promise<void> {
    const isFirstFit = async (): Promise<boolean> => {
      if (this.#isFirstFit(endpoint, await firstBytes(stream, isWhole, undefined))) return true;
      this.#decider.violated(connectTo(endpoint), "name_mismatch");
      return false;
    };
    await passRaw(this.#raw, { stream, endpoint, level, isFirstFit });
  }

  /** INVARIANT: a greeting that comes late is held to the same name as one that comes at once. */
  #isFirstFit({ host }: Endpoint, bytes: Buffer): boolean {
    const hello = readClientHello(bytes);
    if (bytes.length === 0 || hello.kind === "other") return true;
    return hello.kind === "hello" && !hello.hidesName && this.#isNameOf(hello.serverName, host);
  }

  #pinned(endpoint: Endpoint): void {
    const question = connectTo(endpoint);
    this.#decider.violated(question, "pinned");
    // WHY asked and not waited for: this connection is over, but the next one may pass.
    void this.#decider.ask(question, AbortSignal.abort()).catch(() => undefined);
  }

  #refuse(stream: Duplex, question: NetworkQuestion, refusal: Refusal): void {
    this.#decider.violated(question, refusal);
    reset(stream);
  }
}

function isWhole(seen: Buffer): boolean {
  return readClientHello(seen).kind !== "short";
}

function looksLikeRequest(bytes: Buffer): boolean {
  const start = bytes.toString("latin1", 0, 32);
  return REQUEST_START.test(start) && !start.startsWith(HTTP2_PREFACE);
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}
