/**
 * What is no endpoint, judged by Node's own validator, so that its errors stay what they are. Node is shown kinds and
 * numbers and nothing that it could look up or dial; what it does not mind ends with the guard's own error.
 */
import dns from "node:dns";
import type net from "node:net";
import { apply, charCodeAt, freeze, getOwnPropertyDescriptor, inNextTick, put } from "../captured.ts";
import { type ConnectOptions, ownOptions } from "./endpoint.ts";

type AnyFunction = (...args: unknown[]) => unknown;
type Failed = (error: unknown) => void;

const { lookup } = dns;
const { isArray } = Array;
const noop = freeze((): void => undefined);

/** Never looked up: what Node is told of it comes from the guard. */
export const NO_NAME = "address.invalid";

/** INVARIANT: objects of the program never reach Node: Node gets another thing of their kind. */
export function shownValue(value: unknown): unknown {
  if (typeof value === "function") return namedAs(value);
  if (typeof value !== "object" || value === null) return value;
  return isArray(value) ? [] : {};
}

/** A function that does nothing, under the same name, which Node tells. */
function namedAs(given: object): () => void {
  const name: unknown = getOwnPropertyDescriptor(given, "name")?.value;
  const shown = (): void => void name;
  put(shown, "name", typeof name === "string" ? name : "", false);
  return freeze(shown);
}

/** A look-up of the program's is not asked; one that is no function is refused, as Node does. */
export function isBadLookup({ lookup: given }: ConnectOptions): boolean {
  return given !== undefined && given !== null && typeof given !== "function";
}

/** @throws TypeError for hints of a look-up that Node does not know; no name is looked up */
export function requireHints({ hints }: ConnectOptions): void {
  if (hints) lookup("127.0.0.1", { hints: shownValue(hints) as number }, noop);
}

function hasNul(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (charCodeAt(text, index) === 0) return true;
  return false;
}

/** Throws what Node throws; else the socket ends with `error` later on. */
export function refuseAsNode(
  connect: AnyFunction,
  socket: net.Socket,
  options: ConnectOptions,
  error: unknown,
): void {
  const { host, port, path } = options;
  const shown = ownOptions(options);
  if (port !== undefined) put(shown, "port", shownValue(port));
  if (path !== undefined && path !== null) {
    if (typeof path === "string") {
      inNextTick((fault: Error) => void socket.destroy(fault), error);
      return;
    }
    put(shown, "path", shownValue(path));
  } else if (typeof host !== "string" && Boolean(host)) lookup(shownValue(host) as string, noop);
  // WHY: newer Nodes refuse a NUL; an older one asks the look-up below.
  put(shown, "host", typeof host === "string" && hasNul(host) ? host : NO_NAME);
  const failed = (_host: string, _asked: unknown, found: Failed): void => found(error);
  put(shown, "lookup", isBadLookup(options) ? shownValue(options["lookup"]) : failed);
  apply(connect, socket, [shown]);
}
