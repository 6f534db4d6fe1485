/**
 * The native object below a unix socket, where it meets a path: the path leads through folders that the program may have
 * swapped since it was decided on, and Node comes back to it when the socket is closed, to remove it. So the socket, or the
 * folder that it is made in, is held by a descriptor and named by that.
 * Where the kernel holds the rules as well it sees where a path leads, and the path is taken as it is.
 * Trusts `/proc`, which the kernel writes.
 */
import { constants } from "node:fs";
import { apply, bare, errorCode, freeze, getOwnPropertyDescriptor } from "../captured.ts";
import { nativeFs } from "../fs/native-fs.ts";
import { type Pin, canPin, pinFile, pinName } from "../fs/pinned-place.ts";
import { descriptorName } from "../fs/held-places.ts";
import { refused } from "./handle-standing.ts";

const { chmodSync, closeSync, fstatSync, openSync } = nativeFs;
const { O_NOFOLLOW, S_IFMT, S_IFSOCK } = constants;
const O_PATH = 0o10000000;
const EIO = -5;
/** Of libuv, what everybody may do with a socket, and the bits for it. */
const READABLE = 1;
const WRITABLE = 2;
const READ_BITS = 0o444;
const WRITE_BITS = 0o222;
const PERMISSIONS = 0o7777;
/** Nothing is there, and nobody can put anything there. */
const NOWHERE = "/proc/sallyport-no-such-folder/socket";
const noop = freeze((): void => undefined);

interface Bound {
  readonly pin: Pin;
  readonly ino: unknown;
}

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set, delete: remove } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
const bound = new WeakMap<object, Bound>();
let isHeldByKernel = false;

/** The kernel holds the rules as well. */
export function leavePaths(): void {
  isHeldByKernel = true;
}

type Native = (path: string) => unknown;

/** @param path that was decided on; what it leads to elsewhere by now is not there */
export function connectAt(path: string, native: Native): unknown {
  const pin = isHeldByKernel || !canPin ? bare({ path, release: noop }) : pinFile(path);
  if (pin === undefined) return native(NOWHERE);
  try {
    return native(pin.path);
  } finally {
    pin.release();
  }
}

/** The same for a socket that is made. WHY its folder is held until it is closed: then it is removed from there. */
export function bindAt(handle: object, path: string, native: Native): unknown {
  if (isHeldByKernel || !canPin) return native(path);
  const pin = pinName(path);
  if (pin === undefined) return native(NOWHERE);
  const code = native(pin.path);
  if (code === 0) apply(set, bound, [handle, bare({ pin, ino: numberAt(pin.path) })]);
  else pin.release();
  return code;
}

export function whenClosed(handle: object): void {
  const known = apply(get, bound, [handle]) as Bound | undefined;
  if (known === undefined) return;
  apply(remove, bound, [handle]);
  known.pin.release();
}

/**
 * Opens a socket that was made to everybody. WHY not natively: libuv goes by its path, and follows a link that stands there.
 * @returns as Node's own does: 0, or a code
 * @throws ExternalAccessError where it is another one's
 */
export function openToAll(handle: object, mode: unknown, native: () => unknown): unknown {
  if (isHeldByKernel || !canPin) return native();
  const known = apply(get, bound, [handle]) as Bound | undefined;
  if (known === undefined || typeof mode !== "number") throw refused();
  let fd: number;
  try {
    fd = openSync(known.pin.path, O_PATH | O_NOFOLLOW);
  } catch {
    return EIO;
  }
  try {
    const stats = fstatSync(fd);
    if (known.ino === undefined || socketNumber(stats) !== known.ino) throw refused();
    const bits = (mode & READABLE ? READ_BITS : 0) | (mode & WRITABLE ? WRITE_BITS : 0);
    chmodSync(descriptorName(fd), (stats.mode & PERMISSIONS) | bits);
    return 0;
  } catch (error) {
    if (errorCode(error) === "ERR_ACCESS_DENIED") throw error;
    return EIO;
  } finally {
    closeSync(fd);
  }
}

/** Which file a socket is; `undefined` for what is none. */
function numberAt(path: string): unknown {
  let fd: number;
  try {
    fd = openSync(path, O_PATH | O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    return socketNumber(fstatSync(fd));
  } finally {
    closeSync(fd);
  }
}

/** WHY own values alone: foreign code can put others on the prototypes. */
function socketNumber(stats: object): unknown {
  const mode: unknown = getOwnPropertyDescriptor(stats, "mode")?.value;
  if (typeof mode !== "number" || (mode & S_IFMT) !== S_IFSOCK) return undefined;
  return getOwnPropertyDescriptor(stats, "ino")?.value;
}
