/**
 * Makes a connection that was decided on. Node is told the addresses by the guard, and its handle may connect to nothing
 * else; a look-up that the program brings along is not asked.
 */
import net from "node:net";
import type { Host } from "@sallyport/contract";
import { apply, put } from "../captured.ts";
import { connectionOf, isRaw } from "./connection.ts";
import { type Address, type Endpoint, addressOf } from "./endpoint.ts";
import { permitBind, permitDials } from "./dial-permits.ts";
import { setStanding } from "./native-handles.ts";
import { NO_NAME } from "./not-an-endpoint.ts";

type AnyFunction = (...args: unknown[]) => unknown;
export type Opened = net.Socket & { connecting: boolean };
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { on, removeListener } = net.Socket.prototype;
/* oxlint-enable typescript/unbound-method */

/** Addresses, or a way to be told of them later. */
export type DialTarget = readonly Host[] | { readonly later: (found: Found) => void };

/** An error, or addresses. */
export type Found = (error: unknown, addresses: readonly Host[]) => void;

/** Calls once, when the connection is there or is over, and leaves no listener behind. */
export function whenSettled(socket: net.Socket, settle: () => void): void {
  const over = (): void => {
    apply(removeListener, socket, ["connect", over]);
    apply(removeListener, socket, ["close", over]);
    settle();
  };
  apply(on, socket, ["connect", over]);
  apply(on, socket, ["close", over]);
}

export function permitAll(
  socket: net.Socket,
  addresses: readonly Host[],
  port: number,
  isJudged: boolean,
  owner: object | undefined,
): void {
  const texts: string[] = [];
  for (let index = 0; index < addresses.length; index++)
    put(texts, index, addressOf(addresses[index] as Host).address);
  // WHY: what was not dialled by then is not dialled at all.
  whenSettled(socket, permitDials(texts, port, isJudged, owner));
}

type LookedUp = (error: unknown, address?: string | readonly Address[], family?: number) => void;

export function dialNow(
  original: AnyFunction,
  socket: Opened,
  endpoint: Endpoint,
  own: Record<string, unknown>,
  target: DialTarget,
  callback: AnyFunction | undefined,
): void {
  const connection = connectionOf(socket);
  const isJudged = connection !== undefined && !isRaw(connection);
  const isLater = "later" in target;
  if (endpoint.kind === "unix") {
    put(own, "path", endpoint.path);
    whenSettled(socket, permitDials([endpoint.path], undefined, isJudged, connection));
  } else {
    const { host, port, kind } = endpoint;
    if (!isLater) permitAll(socket, target, port, isJudged, connection);
    put(own, "port", port);
    put(own, "host", kind === "name" ? host : isLater ? NO_NAME : addressOf(host).address);
    put(own, "lookup", (_host: string, asked: { readonly all?: boolean }, found: LookedUp) => {
      const { all } = asked;
      if (isLater)
        target.later((error, addresses) => {
          if (error !== undefined && error !== null) found(error);
          else lookedUp(addresses, all === true, found);
        });
      else lookedUp(target, all === true, found);
    });
  }
  const { localAddress, localPort } = own;
  if (Boolean(localAddress) || Boolean(localPort))
    whenSettled(socket, permitBind(localAddress as string, localPort as number));
  socket.connecting = false;
  // WHY: the handle of a TLS socket is there already, and takes what is written before it is connected.
  if (isJudged)
    setStanding(handleOf(socket), connection.passage === "streams" ? "taken" : "judged", connection);
  apply(original, socket, callback === undefined ? [own] : [own, callback]);
  if (isJudged)
    setStanding(handleOf(socket), connection.passage === "streams" ? "taken" : "judged", connection);
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
