/**
 * What the guard knows of a connection that was opened: where it leads, and what may leave by it.
 * A connection that was decided on as network connect is not in here: whatever leaves by it is covered.
 * Trusts what was dialled. The record belongs to the guard; nothing of the socket itself is believed.
 */
import type { Host } from "@sallyport/contract";
import type { KnownQuestion } from "@sallyport/gate";
import { apply, bare } from "../captured.ts";
import { latin1 } from "../http/own-bytes.ts";
import { RequestWire } from "../http/request-wire.ts";
import { setStanding } from "./native-handles.ts";

/**
 * - `opening`: where it leads is not decided yet, or it is not there yet; what is written waits.
 * - `deciding`: network connect is asked for; Node keeps what is written until it is connected.
 * - `requests`: each request is decided before its bytes leave; anything else needs network connect.
 * - `streams`: HTTP/2 writes by itself, each stream is decided when it is asked for; nothing else may be written.
 * - `covered`: another protocol of Node runs inside (TLS), and is followed there; nothing else may be written.
 * - `raw`: network connect was decided later on.
 */
export type Passage = "opening" | "deciding" | "requests" | "streams" | "covered" | "raw";

/** A request that was decided when the connection was opened for it; it is not decided twice. */
export interface Decided {
  readonly operation: "receive" | "send";
  readonly url: string;
  /** The note that it was decided for; absent where there was none. */
  readonly note?: object | undefined;
}

/** A request that memory alone let pass; see `http/known-request.ts`. */
export interface KnownRequest {
  /** Everything that was written. */
  readonly text: string;
  /** What stands in its first line. */
  readonly target: string;
  readonly question: KnownQuestion;
  /** The address that it was decided with. */
  readonly address: string | undefined;
  /** The names that the host had, where it is an address. */
  readonly aliases: readonly string[] | undefined;
}

export interface Connection {
  readonly host: Host;
  readonly port: number;
  readonly isTls: boolean;
  /** Writes that wait until it is open; told whether it is. */
  waiting: ((isOpen: boolean) => void)[];
  /** The address that later requests are checked with; none where the host is an address itself. */
  address: Host | undefined;
  passage: Passage;
  decided: Decided | undefined;
  readonly wire: RequestWire;
  /** The beginning of a head, kept back. */
  held: Uint8Array | undefined;
  /** The URL of the websocket, once there was a handshake. */
  websocket: string | undefined;
  /** TLS was asked for another name than the host has. */
  hasOtherName: boolean;
  /** The last request that memory alone let pass. */
  known: KnownRequest | undefined;
}

export function newConnection({
  host,
  port,
  isTls,
}: Pick<Connection, "host" | "port" | "isTls">): Connection {
  return bare<Connection>({
    host,
    port,
    isTls,
    waiting: [],
    address: undefined,
    passage: "opening",
    decided: undefined,
    wire: new RequestWire(latin1),
    held: undefined,
    websocket: undefined,
    hasOtherName: false,
    known: undefined,
  });
}

/** What was written meanwhile goes its way, or fails. */
export function letWaiting(connection: Connection, isOpen: boolean): void {
  const { waiting } = connection;
  connection.waiting = [];
  for (let index = 0; index < waiting.length; index++) (waiting[index] as (isOpen: boolean) => void)(isOpen);
}

/** Network connect was decided on, or is being decided on and nothing can leave before. */
export function isRaw({ passage }: Connection): boolean {
  return passage === "raw" || passage === "deciding";
}

/** Network connect was decided on: whatever leaves by it is covered. */
export function makeRaw(socket: object, connection: Connection): void {
  connection.passage = "raw";
  setStanding((socket as { readonly _handle?: unknown })._handle, "free", connection);
}

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set, delete: remove } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
const connections = new WeakMap<object, Connection>();

export function connectionOf(socket: object): Connection | undefined {
  return apply(get, connections, [socket]) as Connection | undefined;
}

export function keepConnection(socket: object, connection: Connection): void {
  apply(set, connections, [socket, connection]);
}

/** A socket may be connected again; what was known of it is then over. */
export function forgetConnection(socket: object): void {
  apply(remove, connections, [socket]);
}
