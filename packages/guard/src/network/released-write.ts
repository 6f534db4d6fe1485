/**
 * What the guard is about to write to a connection that only decided things leave by: these very data, once, by the method
 * that Node takes for them. On the way to the native handle Node asks objects that the program may have changed; what they
 * are shown of the guard's own bytes is a stand-in, which is changed back below them.
 * INVARIANT: what leaves is what was decided on, in bytes that nobody else holds, or of the length that was looked at.
 */
import { apply } from "../captured.ts";
import { bytesLength } from "../http/own-bytes.ts";
import { ownerOf } from "./handle-standing.ts";

/** Node's own `_writeGeneric`. */
type NativeWrite = (isMany: boolean, data: unknown, encoding: unknown, written: unknown) => unknown;

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
/** WHY: the kernel may take bytes later, and until then somebody has to hold them. */
const pending = new WeakMap<object, Uint8Array>();
const STAND_IN = new Uint8Array(0);

/** What may be written, and by which method; no handle: nothing. */
let handle: unknown;
let shown: unknown;
let own: Uint8Array | undefined;
let length = -1;
let method = "";

/**
 * Text, or bytes of the program that mean nothing.
 * INVARIANT: methods of the socket that the program may have replaced run meanwhile, and gain nothing by it.
 */
export function writeReleased(
  original: NativeWrite,
  socket: object,
  owner: object,
  data: unknown,
  encoding: unknown,
  written: unknown,
): void {
  const isText = typeof data === "string";
  // WHY single values and neither an object nor a closure: this runs for every request.
  method = !isText ? "writeBuffer" : isLatin1(encoding) ? "writeLatin1String" : "writeUtf8String";
  own = undefined;
  length = isText ? -1 : bytesLength(data as Uint8Array);
  release(original, socket, owner, data, encoding, written);
}

/** The guard's own bytes, which nobody else gets to see. */
export function writeOwn(
  original: NativeWrite,
  socket: object,
  owner: object,
  bytes: Uint8Array,
  written: unknown,
): void {
  method = "writeBuffer";
  own = bytes;
  length = 0;
  release(original, socket, owner, STAND_IN, "buffer", written);
}

function release(
  original: NativeWrite,
  socket: object,
  owner: object,
  data: unknown,
  encoding: unknown,
  written: unknown,
): void {
  const { _handle: found } = socket as { readonly _handle?: unknown };
  shown = data;
  handle = ownerOf(found) === owner ? found : undefined;
  try {
    apply(original, socket, [false, data, encoding, written]);
  } finally {
    handle = undefined;
    shown = undefined;
    own = undefined;
  }
}

function isLatin1(encoding: unknown): boolean {
  return encoding === "latin1" || encoding === "binary";
}

/** What leaves in the place of what Node hands over; `undefined` where nothing was released to this handle. */
export function takeReleased(by: object, request: unknown, data: unknown, name: string): unknown {
  if (handle !== by || shown !== data || method !== name) return undefined;
  if (length >= 0 && bytesLength(data as Uint8Array) !== length) return undefined;
  handle = undefined;
  if (own === undefined) return data;
  if (typeof request === "object" && request !== null) apply(set, pending, [request, own]);
  return own;
}
