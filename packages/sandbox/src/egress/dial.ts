/**
 * Dials for the gateway: the address that was admitted, or the proxy that the host itself must go through. TLS is
 * verified against the roots of the host, always.
 */
import { type Socket, connect } from "node:net";
import {
  type SecureContext,
  type TLSSocket,
  connect as connectTls,
  createSecureContext,
  rootCertificates,
} from "node:tls";
import { type Host, foldLocalHost, isIpLiteral, isLocalAddress } from "@sallyport/contract";
import { firstBytes } from "./first-bytes.ts";

export interface UpstreamProxy {
  /** `http://[user:password@]host:port`, set by the host. */
  readonly url: string;
  /** Hosts, and with a leading dot all below them, that are reached without it. */
  readonly except?: readonly string[] | undefined;
}

export interface DialOptions {
  readonly upstreamProxy?: UpstreamProxy | undefined;
  /** Certificates of authorities that are trusted beside those of the system; PEM. */
  readonly authorities?: readonly string[] | undefined;
}

export interface Destination {
  readonly host: Host;
  readonly port: number;
  /** `undefined`: only a proxy knows. */
  readonly address: string | undefined;
}

const CONNECT_MS = 30_000;
const HEAD_END = "\r\n\r\n";
const ANSWER_BYTES_MAX = 16_384;

export class Dialer {
  readonly #proxy: URL | undefined;
  readonly #except: readonly string[];
  readonly #authorities: string[] | undefined;
  #context: SecureContext | undefined;

  constructor({ upstreamProxy, authorities }: DialOptions) {
    this.#proxy = upstreamProxy === undefined ? undefined : new URL(upstreamProxy.url);
    if (this.#proxy !== undefined && this.#proxy.protocol !== "http:")
      throw new TypeError("an upstream proxy must be an `http:` URL");
    this.#except = upstreamProxy?.except ?? [];
    this.#authorities = authorities === undefined ? undefined : [...rootCertificates, ...authorities];
  }

  isProxied(host: Host): boolean {
    const isExcept = this.#except.some((name) =>
      name.startsWith(".") ? host.endsWith(name) : host === name,
    );
    // WHY: what is local to the host is not local to its proxy.
    const isLocal = foldLocalHost(host) === "localhost" || isLocalAddress(host);
    return this.#proxy !== undefined && !isExcept && !isLocal;
  }

  async plain(destination: Destination): Promise<Socket> {
    const { host, port, address } = destination;
    if (this.#proxy !== undefined && this.isProxied(host)) return throughProxy(this.#proxy, destination);
    // INVARIANT: only what was admitted is dialled; a name is never handed to a resolver here.
    if (address === undefined) throw new Error("no address was admitted");
    return connected(connect({ host: address, port, allowHalfOpen: true, noDelay: true }), "connect");
  }

  async secure(destination: Destination): Promise<TLSSocket> {
    const socket = await this.plain(destination);
    const { host } = destination;
    const secured = connectTls({
      socket,
      ...(isIpLiteral(host)
        ? { host: host.startsWith("[") ? host.slice(1, -1) : host }
        : { servername: host, host }),
      ALPNProtocols: ["http/1.1"],
      secureContext: this.#trusted(),
    });
    return connected(secured, "secureConnect");
  }

  /** WHY kept: reading all roots takes longer than a handshake. */
  #trusted(): SecureContext {
    return (this.#context ??= createSecureContext(
      this.#authorities === undefined ? {} : { ca: this.#authorities },
    ));
  }
}

function connected<S extends Socket>(socket: S, event: "connect" | "secureConnect"): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(CONNECT_MS, () => fail(new Error("the server did not answer")));
    socket.once("error", fail);
    socket.once("close", () => fail(new Error("the server closed the connection")));
    socket.once(event, () => {
      socket.setTimeout(0);
      socket.removeAllListeners("timeout");
      socket.off("error", fail);
      resolve(socket);
    });
  });
}

async function throughProxy(proxy: URL, { host, port, address }: Destination): Promise<Socket> {
  const name = proxy.hostname.replace(/^\[|\]$/g, "");
  const socket = await connected(
    connect({ host: name, port: Number(proxy.port || 80), allowHalfOpen: true, noDelay: true }),
    "connect",
  );
  const wanted = `${address === undefined || !address.includes(":") ? (address ?? host) : `[${address}]`}:${port}`;
  const secret = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const credentials =
    proxy.username === "" ? "" : `Proxy-Authorization: Basic ${Buffer.from(secret).toString("base64")}\r\n`;
  socket.write(`CONNECT ${wanted} HTTP/1.1\r\nHost: ${wanted}\r\n${credentials}\r\n`);
  const answer = await firstBytes(socket, isAnswered, undefined);
  const end = answer.indexOf(HEAD_END);
  if (end < 0 || !/^HTTP\/1\.[01] 2\d\d[ \r]/.test(answer.toString("latin1", 0, end + 2))) {
    socket.destroy();
    throw new Error("the proxy of the host refused the connection");
  }
  socket.read(end + HEAD_END.length);
  return socket;
}

function isAnswered(seen: Buffer): boolean {
  return seen.includes(HEAD_END) || seen.length > ANSWER_BYTES_MAX;
}

export function isUnverified(error: Error & { readonly code?: string }): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|ERR_TLS|ERR_SSL/.test(error.code ?? "");
}
