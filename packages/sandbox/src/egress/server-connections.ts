/**
 * Connections to servers that are open and not in use: the next request to the same host, port and admitted address takes
 * one instead of dialling. INVARIANT: none is used for another destination than the one it was dialled for.
 */
import type { Duplex } from "node:stream";
import type { Destination, Dialer } from "./dial.ts";

export interface ServerDestination extends Destination {
  readonly isSecure: boolean;
}

/** Whoever uses a connection now. */
export interface ServerListener {
  heard(bytes: Buffer): void;
  /** It is over; nothing more comes. */
  ended(error: Error | undefined): void;
}

const IDLE_MS = 4000;
const IDLE_MAX = 64;

export class ServerConnection {
  readonly stream: Duplex;
  readonly destination: ServerDestination;
  listener: ServerListener | undefined;
  /** It served somebody before. */
  isUsed = false;
  isOver = false;

  constructor(stream: Duplex, destination: ServerDestination) {
    this.stream = stream;
    this.destination = destination;
    // WHY once for its whole life: requests come by the thousand.
    stream.on("data", (bytes: Buffer) => {
      if (this.listener === undefined) this.destroy();
      else this.listener.heard(bytes);
    });
    stream.on("error", (error) => this.#end(error));
    stream.once("end", () => this.#end(undefined)).once("close", () => this.#end(undefined));
  }

  leadsTo({ host, port, address, isSecure }: ServerDestination): boolean {
    const own = this.destination;
    return own.host === host && own.port === port && own.address === address && own.isSecure === isSecure;
  }

  destroy(): void {
    this.listener = undefined;
    this.isOver = true;
    this.stream.destroy();
  }

  #end(error: Error | undefined): void {
    if (this.isOver) return;
    const { listener } = this;
    this.destroy();
    listener?.ended(error);
  }
}

export class ServerConnections {
  readonly #dialer: Dialer;
  readonly #idle = new Map<ServerConnection, NodeJS.Timeout>();
  #isClosed = false;

  constructor(dialer: Dialer) {
    this.#dialer = dialer;
  }

  /** One that is open already. */
  take(destination: ServerDestination): ServerConnection | undefined {
    for (const [connection, timer] of this.#idle) {
      if (!connection.leadsTo(destination)) continue;
      clearTimeout(timer);
      this.#idle.delete(connection);
      if (!connection.isOver) return connection;
    }
    return undefined;
  }

  async dial(destination: ServerDestination): Promise<ServerConnection> {
    const stream = await this.#dialer[destination.isSecure ? "secure" : "plain"](destination);
    return new ServerConnection(stream, destination);
  }

  /** Nobody uses it any more, and no byte of an answer is due. */
  keep(connection: ServerConnection): void {
    connection.listener = undefined;
    if (connection.isOver || this.#isClosed || this.#idle.size >= IDLE_MAX) {
      connection.destroy();
      return;
    }
    const drop = (): void => {
      this.#idle.delete(connection);
      connection.destroy();
    };
    this.#idle.set(connection, setTimeout(drop, IDLE_MS).unref());
  }

  /** Something changed: what is not in use is not kept. */
  clear(): void {
    for (const [connection, timer] of this.#idle) {
      clearTimeout(timer);
      connection.destroy();
    }
    this.#idle.clear();
  }

  close(): void {
    this.#isClosed = true;
    this.clear();
  }
}
