/**
 * Files that Node sends by their number: `respondWithFD` of an HTTP/2 server makes a native handle of whatever number it is told,
 * and pipes it natively. The class of the streams that do it is shown when the first one is there, and somebody else may see
 * that one first; so the question is asked by the native handle, when it is given the stream that it is for.
 * Before the program runs. Where Node hands out no internals (`--node-permission`) the number stays unasked.
 */
import type { AnyFunction } from "../any-function.ts";
import { apply, bare, defineProperty, errorCode, getOwnPropertyDescriptor, inNextTick } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { nativePrototype } from "../native-class.ts";
import { requireForeign } from "./descriptor-calls.ts";

/** What Node calls the property, on every Node that is supported. */
const STREAM = "stream";

const NO_DESCRIPTOR = "EBADF";
const NGHTTP2_INTERNAL_ERROR = 2;

/** What Node does where nothing can be read: it answers with this error, and nobody is thrown at. */
function failAsNode(stream: unknown): void {
  (stream as { close?: (code: number) => void }).close?.(NGHTTP2_INTERNAL_ERROR);
}

export function guardPipedNumbers(ground: Ground): void {
  const prototype = nativePrototype("fs", "FileHandle");
  if (prototype === undefined) return;
  const fdOf = getOwnPropertyDescriptor(prototype, "fd")?.get;
  const release = getOwnPropertyDescriptor(prototype, "releaseFD")?.value as AnyFunction | undefined;
  if (fdOf === undefined || release === undefined)
    throw new TypeError("native file handles of this Node are not known to the guard");
  const set = function stream(this: object, value: unknown): void {
    try {
      requireForeign(ground, apply(fdOf, this, []), "read");
    } catch (error) {
      // WHY: a handle that is given up closes its number, which is another one's. One without a number reads nothing.
      apply(release, this, []);
      if (errorCode(error) !== NO_DESCRIPTOR) throw error;
      inNextTick(failAsNode, value);
    }
    defineProperty(this, STREAM, bare({ value, writable: true, enumerable: true, configurable: true }));
  };
  defineProperty(
    prototype,
    STREAM,
    bare({ get: () => undefined, set, enumerable: false, configurable: false }),
  );
}
