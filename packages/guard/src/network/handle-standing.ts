/**
 * What the guard knows of a native handle: whose connection it is of, and what may happen to it. By its number, too, nobody
 * writes to a connection that only decided things leave by.
 */
import { refusedError } from "../blocked-call.ts";
import { SafeWeakSet, apply, bare, getOwnPropertyDescriptor } from "../captured.ts";
import { keep, keepNoMore } from "../process/kept-descriptors.ts";

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */

/**
 * - `judged`: only the guard writes to it, and no protocol of Node takes it over.
 * - `taken`: a protocol of Node that the guard follows writes to it, natively.
 * - `free`: network connect was decided on.
 */
export type Standing = "judged" | "taken" | "free";
const standings = new WeakMap<object, Standing>();
/** INVARIANT: a handle keeps the connection that it was made for, whichever socket the program puts it on. */
const owners = new WeakMap<object, object>();
const madeByTls = new SafeWeakSet();
/** By which Node's streams tell their number. */
let nativeNumber: (() => unknown) | undefined;
let areAllKept = false;

export function standingOf(handle: object): Standing | undefined {
  return apply(get, standings, [handle]) as Standing | undefined;
}

/** INVARIANT: only for a handle of the connection that it is put for. */
export function putStanding(handle: object, standing: Standing): void {
  apply(set, standings, [handle, standing]);
  keepNumber(handle);
}

/** A handle of TLS that its guarded socket has made. */
export function putMadeByTls(handle: object): void {
  madeByTls.add(handle);
}

export function isMadeByTls(handle: object): boolean {
  return madeByTls.has(handle);
}

/** @param holder a prototype of handles, which may have the number */
export function learnNumber(holder: object): void {
  nativeNumber ??= getOwnPropertyDescriptor(holder, "fd")?.get;
}

/**
 * INVARIANT: by its number nobody writes to a connection that only decided things leave by. Node's own files, handles and
 * children would, as long as the number is to be had.
 */
export function keepNumber(handle: object): void {
  const fd = numberOf(handle);
  if (fd < 0) return;
  if (isClosedToNumbers(handle)) keep(fd);
  else keepNoMore(fd);
}

export function isClosedToNumbers(handle: object): boolean {
  const standing = standingOf(handle);
  return standing === "judged" || standing === "taken" || areAllKept;
}

/** Several subjects share the process: a connection is its opener's, and a number is anybody's. */
export function keepAllNumbers(): void {
  areAllKept = true;
}

/** WHY not the property: the program can put another one on its handle. */
function numberOf(handle: object): number {
  if (nativeNumber === undefined || madeByTls.has(handle)) return -1;
  try {
    const fd: unknown = apply(nativeNumber, handle, []);
    return typeof fd === "number" ? fd : -1;
  } catch {
    // It is none of Node's streams.
    return -1;
  }
}

/** Whether the handle is this connection's; it becomes so where it was nobody's. */
export function isOwned(handle: object, owner: object): boolean {
  const known = ownerOf(handle);
  if (known === undefined) apply(set, owners, [handle, owner]);
  return known === undefined || known === owner;
}

export function ownerOf(handle: unknown): object | undefined {
  return apply(get, owners, [handle]) as object | undefined;
}

/** The connection that only decided things leave by; none where the handle is free. */
export function judgedOwner(handle: unknown): object | undefined {
  if (typeof handle !== "object" || handle === null) return undefined;
  const standing = standingOf(handle);
  return standing === undefined || standing === "free" ? undefined : ownerOf(handle);
}

export function refused(): Error {
  return refusedError(
    "a native handle connects and writes for the guard alone: use the socket",
    bare({ syscall: "connect" }),
  );
}
