/**
 * Makes a connection that was decided on. Node is told the addresses by the guard, and its handle may connect to nothing
 * else; a look-up that the program brings along is not asked.
 */
import net from "node:net";
import type { Host } from "@sallyport/contract";
import { apply, put } from "../captured.ts";
import { connectionOf } from "./connection.ts";
import { type Address, type Endpoint, addressOf } from "./endpoint.ts";
import { permitDials, setStanding } from "./native-handles.ts";

type AnyFunction = (...args: unknown[]) => unknown;
export type Opened = net.Socket & { connecting: boolean };
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { once } = net.Socket.prototype;

/** Addresses, or a way to be told of them later. */
export type DialTarget =
  | readonly Host[]
  | { readonly later: (found: (addresses: readonly Host[]) => void) => void };

/** WHY: what was not dialled when the connection is there, or is over, is not dialled at all. */
function withdrawing(socket: net.Socket, withdraw: () => void): void {
  apply(once, socket, ["connect", withdraw]);
  apply(once, socket, ["close", withdraw]);
}

export function permitAll(
  socket: net.Socket,
  addresses: readonly Host[],
  port: number,
  isJudged: boolean,
): void {
  const texts: string[] = [];
  for (let index = 0; index < addresses.length; index++)
    put(texts, index, addressOf(addresses[index] as Host).address);
  withdrawing(socket, permitDials(texts, port, isJudged));
}

type LookedUp = (error: null, address: string | readonly Address[], family?: number) => void;

/** Never looked up: what Node is told of it comes from the guard. */
const NO_NAME = "address.invalid";

export function dialNow(
  original: AnyFunction,
  socket: Opened,
  endpoint: Endpoint,
  own: Record<string, unknown>,
  target: DialTarget,
  callback: AnyFunction | undefined,
): void {
  const connection = connectionOf(socket);
  const isJudged = connection !== undefined && connection.passage !== "raw";
  const isLater = "later" in target;
  if (endpoint.kind === "unix") {
    put(own, "path", endpoint.path);
    withdrawing(socket, permitDials([endpoint.path], undefined, isJudged));
  } else {
    const { host, port, kind } = endpoint;
    if (!isLater) permitAll(socket, target, port, isJudged);
    put(own, "port", port);
    put(own, "host", kind === "name" ? host : isLater ? NO_NAME : addressOf(host).address);
    put(own, "lookup", (_host: string, asked: { readonly all?: boolean }, found: LookedUp) => {
      const { all } = asked;
      if (isLater) target.later((addresses) => lookedUp(addresses, all === true, found));
      else lookedUp(target, all === true, found);
    });
  }
  socket.connecting = false;
  // WHY: the handle of a TLS socket is there already, and takes what is written before it is connected.
  if (isJudged) setStanding(handleOf(socket), connection.passage === "streams" ? "taken" : "judged");
  apply(original, socket, callback === undefined ? [own] : [own, callback]);
  if (connection?.passage === "streams") setStanding(handleOf(socket), "taken");
}

function handleOf(socket: object): unknown {
  return (socket as { readonly _handle?: unknown })._handle;
}

function lookedUp(addresses: readonly Host[], isAll: boolean, found: LookedUp): void {
  const dialled: Address[] = [];
  for (let index = 0; index < addresses.length; index++)
    put(dialled, index, addressOf(addresses[index] as Host));
  const first = dialled[0] as Address;
  if (isAll) found(null, dialled);
  else found(null, first.address, first.family);
}
