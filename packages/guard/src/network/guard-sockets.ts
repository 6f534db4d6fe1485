/**
 * Raw connections, TCP and unix, and TLS over them: decided as network connect, at the one method that opens every socket
 * of Node. A connection goes to the addresses that were checked. Nothing is dialled before the decision.
 */
import net from "node:net";
import type { AccessPart } from "../access-part.ts";
import { apply, bare, freeze, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import {
  type Address,
  type ConnectOptions,
  type Endpoint,
  endpointOf,
  ownOptions,
  resolveName,
} from "./endpoint.ts";

type AnyFunction = (...args: unknown[]) => unknown;
type Opened = net.Socket & { connecting: boolean };

const { _normalizeArgs: normalizeArgs } = net as unknown as {
  readonly _normalizeArgs: (args: readonly unknown[]) => readonly [ConnectOptions, AnyFunction | null];
};
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { destroy } = net.Socket.prototype;

export function guardSockets(ground: Ground): void {
  replaceExport(net.Socket.prototype, "connect", (original) => {
    return function connect(this: Opened, ...args: unknown[]): Opened {
      // WHY: `net.connect` hands over what it has normalized already, as one array.
      const given = args.length === 1 && Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
      const both = given === args ? normalizeArgs(args) : (given as [ConnectOptions, AnyFunction | null]);
      const options = both[0];
      const callback = typeof both[1] === "function" ? both[1] : undefined;
      const endpoint = endpointOf(
        bare({ path: options["path"], host: options["host"], port: options["port"] }),
      );
      const own = ownOptions(options);
      const family = options["family"];
      // WHY: what is written meanwhile waits for the connection.
      this.connecting = true;
      open(ground, this, endpoint, family, (addresses) => {
        dial(original as AnyFunction, this, endpoint, own, addresses, callback);
      });
      return this;
    };
  });
}

/** Calls `dialling` where all parts pass; else the socket ends with the error. */
function open(
  { decider }: Ground,
  socket: Opened,
  endpoint: Endpoint,
  family: unknown,
  dialling: (addresses: readonly Address[]) => void,
): void {
  const fail = (error: unknown): void => void apply(destroy, socket, [error as Error]);
  const decide = (parts: readonly AccessPart[], path: string, addresses: readonly Address[]): void =>
    decider.later(parts, bare({ syscall: "connect", path }), (blocked) => {
      if (blocked !== undefined) fail(blocked);
      else if (!socket.destroyed) dialling(addresses);
    });
  switch (endpoint.kind) {
    case "unix":
      decide(endpoint.parts, endpoint.path, freeze([]));
      return;
    case "address":
      decide(endpoint.parts, endpoint.to.address, freeze([endpoint.to]));
      return;
    case "name":
      resolveName(endpoint, family, (error, { addresses, parts }) => {
        if (error !== null) fail(error);
        else decide(parts, endpoint.requested, addresses);
      });
  }
}

type LookedUp = (error: null, address: string | readonly Address[], family?: number) => void;

function dial(
  original: AnyFunction,
  socket: Opened,
  endpoint: Endpoint,
  own: Record<string, unknown>,
  addresses: readonly Address[],
  callback: AnyFunction | undefined,
): void {
  if (endpoint.kind === "unix") {
    put(own, "path", endpoint.path);
  } else {
    put(own, "port", endpoint.port);
    put(own, "host", endpoint.kind === "name" ? endpoint.host : endpoint.to.address);
    put(own, "lookup", (_host: string, asked: { readonly all?: boolean }, found: LookedUp) => {
      const first = addresses[0] as Address;
      if (asked.all === true) found(null, addresses);
      else found(null, first.address, first.family);
    });
  }
  socket.connecting = false;
  apply(original, socket, callback === undefined ? [own] : [own, callback]);
}
