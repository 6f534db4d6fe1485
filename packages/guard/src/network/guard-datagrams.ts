/**
 * Datagrams: a raw socket, of which nobody knows the direction, so each is network connect to where it goes, and binding is
 * network connect to the local end. Names are resolved by the guard; a look-up that the program brings along is not asked.
 * What a socket was connected to is not asked again.
 */
import dgram from "node:dgram";
import { EventEmitter } from "node:events";
import { type Host, isIpLiteral, parseHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import { type AccessPart, connectPart } from "../access-part.ts";
import { invalidError, refusedError } from "../blocked-call.ts";
import { append, apply, bare, defineProperty, freeze, inNextTick, isSymbolOf, ownKeys } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { decideEndpoint } from "./decide-endpoint.ts";
import { guardDatagramClass, guardDatagramHandle } from "./datagram-handle.ts";
import { addressOf, namesOf, portOf } from "./endpoint.ts";
import { permitDatagram } from "./dial-permits.ts";

type AnyFunction = (...args: unknown[]) => unknown;
type Socket = dgram.Socket & { readonly type: "udp4" | "udp6" };
type Found = (error: unknown, address?: string) => void;

/** What Node keeps of a socket, under a symbol of its own. */
interface State {
  readonly bindState: number;
  readonly connectState: number;
  readonly handle: { lookup: (address: string, found: Found) => void } | null;
}

const BOUND = 2;
const CONNECTED = 2;
const IMPLICIT = freeze({ port: 0, exclusive: true });
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { emit, once } = EventEmitter.prototype;
const { bind: nativeBind, send: nativeSend } = dgram.Socket.prototype;
const { from, concat } = Buffer;
/* oxlint-enable typescript/unbound-method */

/** The state of a socket; from now on it takes addresses only. @throws ExternalAccessError where it cannot be found */
function stateOf(socket: object): State {
  const keys = ownKeys(socket);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (!isSymbolOf(key, "state symbol")) continue;
    const state = (socket as Record<symbol, State>)[key] as State;
    const { handle } = state;
    if (handle === null) return state;
    guardDatagramHandle(handle);
    if (defineProperty(handle, "lookup", LITERALLY)) return state;
  }
  throw refusedError("this socket is not one of Node's own", bare({ syscall: "send" }));
}

/** Never looked up: what Node is told comes from the guard. */
function literally(address: string, found: Found): void {
  inNextTick((text: string) => found(null, text), address);
}

const LITERALLY = bare({ value: literally, configurable: false, writable: false, enumerable: true });

export function guardDatagrams(ground: Ground): void {
  const { prototype } = dgram.Socket;
  if (!guardDatagramClass()) {
    const socket = dgram.createSocket("udp4");
    stateOf(socket);
    socket.close();
  }
  for (const name of ["bindSync", "connectSync", "sendto"])
    replaceExport(prototype, name, () => () => {
      throw refusedError(
        `\`dgram.${name}\` is refused to guarded code: use the asynchronous one`,
        bare({ syscall: name }),
      );
    });
  function send(this: Socket, ...args: unknown[]): void {
    sendDecided(ground, this, args);
  }
  replaceExport(prototype, "send", () => send);
  replaceExport(
    prototype,
    "connect",
    (original) =>
      function connect(this: Socket, port: unknown, ...rest: unknown[]): void {
        const address = typeof rest[0] === "function" ? undefined : rest[0];
        const callback = rest[typeof rest[0] === "function" ? 0 : 1] as AnyFunction | undefined;
        const fail = failing(this, callback);
        whereTo(ground, this, "connect", port, address, fail, (ip, number) =>
          whenBound(this, () => {
            permitDatagram(ip, number);
            apply(original, this, [number, ip, callback]);
          }),
        );
      },
  );
  guardBind(ground);
}

/** A failed call tells its callback, or the socket where there is none. */
function failing(socket: Socket, callback: unknown): (error: unknown) => void {
  return (error) => {
    const tell = (): void => {
      if (typeof callback === "function") (callback as AnyFunction)(error);
      else apply(emit, socket, ["error", error]);
    };
    inNextTick(tell, undefined);
  };
}

/** The forms of `send`: with offset and length, or without; to somebody, or to whom it is connected. */
function sendDecided(ground: Ground, socket: Socket, args: readonly unknown[]): void {
  const state = stateOf(socket);
  if (state.connectState === CONNECTED) {
    apply(nativeSend, socket, args as Parameters<typeof nativeSend>);
    return;
  }
  const isSliced = Boolean(args[4]) || (Boolean(args[3]) && typeof args[3] !== "function");
  const at = isSliced ? 3 : 1;
  const message = copied(args[0], isSliced ? args[1] : undefined, isSliced ? args[2] : undefined);
  const address = typeof args[at + 1] === "function" ? undefined : args[at + 1];
  const callback = typeof args[at + 1] === "function" ? args[at + 1] : args[at + 2];
  whereTo(ground, socket, "send", args[at], address, failing(socket, callback), (ip, port) =>
    whenBound(socket, () => {
      permitDatagram(ip, port);
      apply(nativeSend, socket, [message, port, ip, callback] as unknown as Parameters<typeof nativeSend>);
    }),
  );
}

/** WHY: what the program hands over it can change while it waits. */
function copied(message: unknown, offset: unknown, length: unknown): Uint8Array {
  if (Array.isArray(message)) {
    const pieces: Uint8Array[] = [];
    for (let index = 0; index < message.length; index++)
      append(pieces, copied(message[index], undefined, undefined));
    return concat(pieces);
  }
  const view = message as { readonly buffer?: ArrayBuffer; byteOffset?: number; byteLength?: number };
  const bytes =
    typeof message === "string" || view.buffer === undefined
      ? from(message as string)
      : from(from(view.buffer, view.byteOffset, view.byteLength));
  if (offset === undefined) return bytes;
  return from(bytes.subarray(offset as number, (offset as number) + (length as number)));
}

/** Decides where to, and says it as an address. */
function whereTo(
  { decider }: Ground,
  socket: Socket,
  syscall: string,
  port: unknown,
  address: unknown,
  fail: (error: unknown) => void,
  go: (ip: string, port: number) => void,
): void {
  stateOf(socket);
  const isSix = socket.type === "udp6";
  const isLocal = address === undefined || address === null || address === "";
  const written = isLocal ? (isSix ? "::1" : "127.0.0.1") : address;
  const host = typeof written === "string" ? parseHost(written, capturedUrl) : undefined;
  const number = portOf(port);
  if (host === undefined || number === undefined)
    throw invalidError("a datagram needs a host and a port from 1 to 65535", bare({ syscall }));
  const requested = `${written as string}:${number}`;
  const kind = isIpLiteral(host) ? ("address" as const) : ("name" as const);
  const part = (dialled: Host | undefined): AccessPart =>
    connectPart(`${host}:${number}`, requested, bare({ address: dialled, aliases: namesOf(host) }));
  const endpoint = bare({ kind, host, port: number, requested });
  const question = bare({ endpoint, family: isSix ? 6 : 4, part, facts: bare({ syscall, path: requested }) });
  decideEndpoint(decider, question, (error, addresses) => {
    if (error !== undefined && error !== null) fail(error);
    else go(addressOf(addresses[0] as Host).address, number);
  });
}

function anywhereOf({ type }: Socket): string {
  return type === "udp6" ? "::" : "0.0.0.0";
}

/** Node binds to any port by itself for what is sent; that is covered by what is sent. */
function whenBound(socket: Socket, go: () => void): void {
  const state = stateOf(socket);
  if (state.handle === null) return;
  if (state.bindState === BOUND) {
    go();
    return;
  }
  apply(once, socket, ["listening", go]);
  if (state.bindState !== 0) return;
  permitDatagram(anywhereOf(socket), 0);
  apply(nativeBind, socket, [IMPLICIT]);
}

function guardBind({ decider }: Ground): void {
  replaceExport(
    dgram.Socket.prototype,
    "bind",
    (original) =>
      function bind(this: Socket, ...args: unknown[]): Socket {
        stateOf(this);
        const last = args[args.length - 1];
        const callback = typeof last === "function" ? last : undefined;
        const options = boundTo(args);
        const { address, port } = options;
        const host = parseHost(address === "" ? anywhereOf(this) : address, capturedUrl);
        if (host === undefined || !isIpLiteral(host))
          throw invalidError(
            "binding needs an address: names are not looked up for it",
            bare({ syscall: "bind" }),
          );
        const target = port === 0 ? host : `${host}:${port}`;
        decider.later([connectPart(target, target)], bare({ syscall: "bind", path: target }), (blocked) => {
          if (blocked !== undefined) failing(this, undefined)(blocked);
          else {
            const own = bare({ address: addressOf(host).address, port, exclusive: options.exclusive });
            permitDatagram(own.address, port);
            apply(original, this, [own, callback]);
          }
        });
        return this;
      },
  );
}

interface BoundTo {
  readonly address: string;
  readonly port: number;
  readonly exclusive: boolean;
}

function boundTo(args: readonly unknown[]): BoundTo {
  const first = args[0];
  const isOptions = typeof first === "object" && first !== null;
  const given = (isOptions ? first : {}) as Record<string, unknown>;
  if (given["fd"] !== undefined || given["recvStart"] !== undefined)
    throw refusedError(
      "binding to a socket from elsewhere is refused to guarded code: name a port",
      bare({ syscall: "bind" }),
    );
  const port = isOptions ? given["port"] : typeof first === "function" ? 0 : first;
  const address = isOptions ? given["address"] : args[1];
  const number = port === undefined || port === null || port === 0 || port === "0" ? 0 : portOf(port);
  if (number === undefined)
    throw invalidError("binding needs a port from 0 to 65535", bare({ syscall: "bind" }));
  return bare({
    address: typeof address === "string" ? address : "",
    port: number,
    exclusive: given["exclusive"] === true,
  });
}
