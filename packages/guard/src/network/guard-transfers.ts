/**
 * Connections that are handed to another thread, or to the own one, by a message. Newer Nodes do that with a native handle, and
 * with whatever says of itself that it holds one; what arrives is another handle of the same connection, of which no guard knows
 * what may leave by it. So there a message takes along nothing but memory and ports, which hold no handles. Handles of files are
 * handed over by no Node: what arrives has a number that the program can change.
 */
import net from "node:net";
import { types } from "node:util";
import type { AnyFunction } from "../any-function.ts";
import { refusedError } from "../blocked-call.ts";
import { append, apply, bare, isSymbolOf, ownKeys } from "../captured.ts";
import { isHandle } from "../fs/file-handle.ts";
import { replaceExport } from "../replace-export.ts";

const { isArrayBuffer } = types;
const NativePort = MessagePort;
const { isArray } = Array;
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { start } = NativePort.prototype;
/* oxlint-enable typescript/unbound-method */

/** This Node hands connections over. */
let areHandlesSent = true;

export function guardTransfers(): void {
  areHandlesSent = areTransferable();
  replaceExport(
    NativePort.prototype,
    "postMessage",
    (original) =>
      function postMessage(this: unknown, ...args: unknown[]) {
        if (args.length < 2) return apply(original, this, args);
        return apply(original, this, [args[0], checkedList(args[1])]);
      },
  );
  replaceExport(
    globalThis,
    "structuredClone",
    (original) =>
      function structuredClone(...args: unknown[]) {
        if (args.length < 2) return apply(original, undefined, args);
        return apply(original, undefined, [args[0], cloneOptions(args[1])]);
      },
  );
}

function cloneOptions(given: unknown): unknown {
  const list = checkedList(given);
  return isArray(list) ? bare({ transfer: list }) : list;
}

function areTransferable(): boolean {
  const keys = ownKeys(net.Socket.prototype);
  for (let index = 0; index < keys.length; index++)
    if (isSymbolOf(keys[index], "messaging_transfer_symbol")) return true;
  return false;
}

/**
 * A list, or options that hold one, as Node takes them. A copy, which nobody else holds; what is no list is for Node to refuse.
 * @throws ExternalAccessError where it holds what is not to be handed over
 */
function checkedList(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return typeof given === "function" ? NO_LIST : given;
  if (typeof (given as Iterable<unknown>)[ITERATOR] === "function") return copyOf(given) ?? NO_LIST;
  const { transfer } = given as { readonly transfer?: unknown };
  if (transfer === undefined) return undefined;
  return (isIterable(transfer) ? copyOf(transfer) : undefined) ?? bare({ transfer: NO_LIST });
}

/** Neither is a list. */
const NO_LIST = 0;
const ITERATOR: typeof Symbol.iterator = Symbol.iterator;

function isIterable(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Iterable<unknown>)[ITERATOR] === "function"
  );
}

/** Read once. `undefined`: it is none after all. */
function copyOf(list: object): unknown[] | undefined {
  const own: unknown[] = [];
  const steps: unknown = apply((list as Iterable<unknown>)[ITERATOR], list, []);
  if (typeof steps !== "object" || steps === null) return undefined;
  const { next } = steps as { readonly next?: unknown };
  if (typeof next !== "function") return undefined;
  for (;;) {
    const step: unknown = apply(next as AnyFunction, steps, []);
    if (typeof step !== "object" || step === null) return undefined;
    const { done, value } = step as IteratorResult<unknown>;
    if (done === true) return own;
    if (isHandle(value) || (areHandlesSent && !isArrayBuffer(value) && !isPort(value))) throw refused();
    append(own, value);
  }
}

/** WHY so: Node lets nothing but a port be started, whatever stands on its prototypes; and one that is sent is not heard here. */
function isPort(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  try {
    apply(start, value, []);
    return true;
  } catch {
    return false;
  }
}

function refused(): Error {
  return refusedError(
    "a message of guarded code takes along memory and ports alone, in a list: a handle would be another one, of which no guard knows",
    bare({ syscall: "postMessage" }),
  );
}
