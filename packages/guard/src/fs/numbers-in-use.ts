/**
 * Numbers of descriptors that Node's threads still mean. A call by number is made when a thread has time for it; if the number
 * was closed by then, and a connection got it, the call would reach that connection, past everything that is decided there. So
 * before something gets a number that nobody may reach by it, those that are meant and free are taken.
 * Trusts nothing that the program says; knows nothing of the calls of other threads of the program.
 */
import type { AnyFunction } from "../any-function.ts";
import { constants } from "node:fs";
import { SafeMap } from "@sallyport/gate/captured";
import { refusedError } from "../blocked-call.ts";
import { append, apply, bare } from "../captured.ts";
import { closeHidden, hide, isHeld } from "./held-places.ts";
import { nativeFs } from "./native-fs.ts";

const { closeSync, openSync } = nativeFs;
const { O_DIRECTORY } = constants;
const O_PATH = 0o10000000;
/** WHY: a program that has so many numbers free below one that is meant has made them for this. */
const PROBES_MAX = 4096;

/** How many calls that are under way mean a number. */
const meant = new SafeMap<number, number>();
/** Numbers that were taken so that nothing else gets them. */
const taken = new SafeMap<number, true>();

export function beginUse(fd: number): void {
  meant.set(fd, (meant.get(fd) ?? 0) + 1);
}

export function endUse(fd: number): void {
  const left = (meant.get(fd) ?? 1) - 1;
  if (left > 0) {
    meant.set(fd, left);
    return;
  }
  meant.delete(fd);
  if (taken.get(fd) !== true) return;
  taken.delete(fd);
  closeHidden(fd);
}

/** Descriptors of the guard's own, which Node's functions are given: the program closes none of them. */
const own = new SafeMap<number, true>();

export function beginOwn(fd: number): void {
  beginUse(fd);
  own.set(fd, true);
}

/** WHY closed at once: for one of Node's threads it would be a number, which may be another file's by then. */
export function closeOwn(fd: number): void {
  own.delete(fd);
  endUse(fd);
  closeSync(fd);
}

export function isOwn(fd: unknown): boolean {
  return own.get(fd as number) === true;
}

/** Numbers that one of Node's threads is about to close, and by which call. */
const closing = new SafeMap<number, number>();
let closes = 0;

/** @returns the call, for {@link endClose} */
export function beginClose(fd: number): number {
  beginUse(fd);
  closing.set(fd, ++closes);
  return closes;
}

export function endClose(fd: number, call: number): void {
  if (closing.get(fd) === call) closing.delete(fd);
  endUse(fd);
}

/** It was opened a moment ago. WHY: what closed it before is done, whether that was told by now or not. */
export function reopened(fd: number): number {
  if (closing.size > 0) closing.delete(fd);
  if (ofHandles.size > 0) ofHandles.delete(fd);
  return fd;
}

/** By the number that each handle had when it was opened. */
const ofHandles = new SafeMap<number, WeakRef<object>>();
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { deref } = WeakRef.prototype;

export function putHandle(fd: number, handle: object): void {
  ofHandles.set(fd, new WeakRef(handle));
}

/**
 * Whether the number is that of a handle, whose calls mean it until it is really closed.
 * WHY not what the handle says: it says that it is closed as soon as somebody has asked for it.
 */
export function isOfHandle(fd: unknown): boolean {
  const known = ofHandles.get(fd as number);
  if (known === undefined) return false;
  if (apply(deref, known, []) !== undefined && isOpen(fd as number)) return true;
  ofHandles.delete(fd as number);
  return false;
}

export function isClosing(fd: unknown): boolean {
  return closing.size > 0 && closing.get(fd as number) !== undefined;
}

export function isInUse(fd: number): boolean {
  return meant.get(fd) !== undefined;
}

/** A call of Node's whose first argument is a number, and whose last one may be a callback: meant until that is called. */
export function callInUse(original: AnyFunction, args: readonly unknown[]): unknown {
  const last = args.length - 1;
  const fd = args[0];
  const callback = args[last];
  if (typeof fd !== "number" || typeof callback !== "function")
    return apply(original, undefined, args as unknown[]);
  const given: unknown[] = [];
  for (let index = 0; index < last; index++) append(given, args[index]);
  append(given, function over(this: unknown, ...values: unknown[]) {
    endUse(fd);
    apply(callback as AnyFunction, this, values);
  });
  beginUse(fd);
  try {
    return apply(original, undefined, given);
  } catch (error) {
    endUse(fd);
    throw error;
  }
}

/** @throws ExternalAccessError where that cannot be done */
export function takeNumbersInUse(): void {
  if (meant.size === 0) return;
  let free = 0;
  meant.each((_, fd) => {
    if (taken.get(fd) !== true && !isOpen(fd)) free++;
  });
  const probes: number[] = [];
  try {
    while (free > 0 && probes.length < PROBES_MAX) {
      const fd = openSync("/", O_PATH | O_DIRECTORY);
      if (!isInUse(fd)) {
        append(probes, fd);
        continue;
      }
      hide(fd);
      taken.set(fd, true);
      free--;
    }
  } finally {
    for (let index = 0; index < probes.length; index++) closeSync(probes[index] as number);
  }
  if (free > 0)
    throw refusedError(
      "a call by the number of a closed descriptor is under way: wait for it before something else is opened",
      bare({ syscall: "connect" }),
    );
}

function isOpen(fd: number): boolean {
  if (isHeld(fd)) return true;
  try {
    nativeFs.fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}
