/**
 * Calls on descriptors. A process of one subject may use what it has opened, because that was decided when it was opened;
 * but a descriptor that was opened for reading also lets its holder change mode, owner and times, and that is decided
 * here. The descriptor of the gate belongs to nobody in this process but its worker.
 */
import type { AccessPart } from "../access-part.ts";
import { filePart } from "../access-part.ts";
import { apply, bare, beginsWith, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { type AnyFunction, failing } from "./call-drivers.ts";
import { isKept } from "../process/kept-descriptors.ts";
import { requireOwner } from "./descriptor-owner.ts";
import { placeAt } from "./place-of.ts";
import { descriptorPath, isHeld } from "./held-places.ts";

type Callback = (error: unknown) => void;

/**
 * Refused as a descriptor that does not exist, which for the program it does not.
 * @throws also where it is another subject's, and whoever acts may not use the file
 */
export function requireForeign(ground: Ground, fd: unknown, syscall: string): void {
  if (fd !== ground.gateFd && !isHeld(fd) && !isKept(fd)) {
    requireOwner(ground, fd, syscall);
    return;
  }
  const error = new Error(`EBADF: bad file descriptor, ${syscall}`);
  put(error, "code", "EBADF");
  put(error, "errno", -9);
  put(error, "syscall", syscall);
  throw error;
}

/** Any call whose first argument is a descriptor. */
export function onDescriptor(ground: Ground, original: AnyFunction, syscall: string): AnyFunction {
  return (...args) => {
    try {
      requireForeign(ground, args[0], syscall);
    } catch (error) {
      const callback: unknown = args[args.length - 1];
      if (typeof callback !== "function") throw error;
      failing(callback as Callback)(error);
      return undefined;
    }
    return apply(original, undefined, args);
  };
}

/** What changing the file behind a descriptor needs: nothing where there is no file. */
export function changeOf(fd: unknown): AccessPart[] {
  if (typeof fd !== "number" || (fd | 0) !== fd || fd < 0) return [];
  let path: string;
  try {
    path = descriptorPath(fd);
  } catch {
    return [];
  }
  return beginsWith(path, "/") ? [filePart("modify", placeAt(path))] : [];
}

export function changeSync(ground: Ground, original: AnyFunction, syscall: string): AnyFunction {
  return (...args) => {
    requireForeign(ground, args[0], syscall);
    ground.decider.now(changeOf(args[0]), bare({ syscall }));
    return apply(original, undefined, args);
  };
}

export function changeCallback(ground: Ground, original: AnyFunction, syscall: string): AnyFunction {
  return (...args) => {
    requireForeign(ground, args[0], syscall);
    const callback = args[args.length - 1] as Callback;
    if (typeof callback !== "function") return apply(original, undefined, args);
    ground.decider.later(changeOf(args[0]), bare({ syscall }), (blocked) => {
      if (blocked !== undefined) failing(callback)(blocked);
      else apply(original, undefined, args);
    });
    return undefined;
  };
}

/** By the name without `Sync`. */
export const DESCRIPTOR_CALLS = Object.freeze([
  "close",
  "fdatasync",
  "fstat",
  "fsync",
  "ftruncate",
  "read",
  "readv",
  "write",
  "writev",
]);
export const CHANGING_CALLS = Object.freeze(["fchmod", "fchown", "futimes"]);
