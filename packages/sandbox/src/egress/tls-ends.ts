/**
 * Where TLS of programs is ended: one server for each endpoint, with a certificate of the sandbox's authority. Kept, since
 * making one takes longer than a handshake. Says nothing about what may be reached.
 */
import type { Socket } from "node:net";
import { type Server, type TLSSocket, createServer } from "node:tls";
import type { Host } from "@sallyport/contract";
import type { CertificateAuthority } from "./certificate-authority.ts";
import type { Endpoint } from "./raw-passage.ts";

export interface TlsEndParts {
  readonly authority: CertificateAuthority;
  readonly onSecured: (secured: TLSSocket, endpoint: Endpoint) => void;
  /** The program does not trust the authority. */
  readonly onPinned: (endpoint: Endpoint) => void;
}

const ENDS_MAX = 256;
const PINNED_ALERT = /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)/;

export class TlsEnds {
  readonly #parts: TlsEndParts;
  readonly #servers = new Map<Host, Map<number, Server>>();
  #count = 0;

  constructor(parts: TlsEndParts) {
    this.#parts = parts;
  }

  serve(socket: Socket, endpoint: Endpoint): void {
    this.#serverFor(endpoint).emit("connection", socket);
  }

  #serverFor(endpoint: Endpoint): Server {
    const known = this.#servers.get(endpoint.host)?.get(endpoint.port);
    if (known !== undefined) return known;
    if (this.#count >= ENDS_MAX) {
      this.#servers.clear();
      this.#count = 0;
    }
    const made = this.#make(endpoint);
    const ofHost = this.#servers.get(endpoint.host) ?? new Map<number, Server>();
    this.#servers.set(endpoint.host, ofHost.set(endpoint.port, made));
    this.#count++;
    return made;
  }

  #make(endpoint: Endpoint): Server {
    const { authority, onSecured, onPinned } = this.#parts;
    const { certificates, key } = authority.certify(endpoint.host);
    const server = createServer({
      cert: certificates,
      key,
      minVersion: "TLSv1.2",
      ALPNProtocols: ["h2", "http/1.1"],
    });
    // WHY in the event itself: what the program sends with its greeting must not arrive before its reader.
    server.on("secureConnection", (secured) => onSecured(secured, endpoint));
    server.on("tlsClientError", (error: Error & { readonly code?: string }, socket) => {
      if (PINNED_ALERT.test(error.code ?? "")) onPinned(endpoint);
      socket.destroy();
    });
    return server;
  }
}
