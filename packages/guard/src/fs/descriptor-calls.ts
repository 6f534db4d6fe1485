/**
 * Calls on descriptors. A process of one subject may use what it has opened, because that was decided when it was opened;
 * but a descriptor that was opened for reading also lets its holder change mode, owner and times, and that is decided
 * here. The descriptor of the gate belongs to nobody in this process but its worker.
 */
import type { AnyFunction } from "../any-function.ts";
import type { AccessPart } from "../access-part.ts";
import { filePart } from "../access-part.ts";
import { invalidError } from "../blocked-call.ts";
import { append, apply, bare, beginsWith, inNextTick, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { type Told, atOnce, toldTo } from "./at-once.ts";
import { failing } from "./call-drivers.ts";
import { isKept } from "../process/kept-descriptors.ts";
import { requireOwner } from "./descriptor-owner.ts";
import { callInUse, isClosing, isOwn } from "./numbers-in-use.ts";
import { placeAt } from "./place-of.ts";
import { descriptorPath, isHeld } from "./held-places.ts";

type Callback = (error: unknown) => void;

/**
 * Refused as a descriptor that does not exist, which for the program it does not.
 * @throws also where it is another subject's, and whoever acts may not use the file
 */
export function requireForeign(ground: Ground, fd: unknown, syscall: string): void {
  const isGuards = fd === ground.gateFd || isHeld(fd) || isKept(fd) || (syscall === "close" && isOwn(fd));
  if (!isGuards && !isClosing(fd)) {
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
    return callInUse(original, args);
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

/** @param now Node's synchronous form */
export function changeCallback(
  ground: Ground,
  original: AnyFunction,
  syscall: string,
  now: AnyFunction,
): AnyFunction {
  return (...args) => {
    requireForeign(ground, args[0], syscall);
    const last = args.length - 1;
    const callback = args[last] as Callback;
    if (typeof callback !== "function") return apply(original, undefined, args);
    const own: unknown[] = [];
    for (let index = 0; index < last; index++) append(own, args[index]);
    changeLater(ground, syscall, now, own, toldTo(callback));
    return undefined;
  };
}

/**
 * Decided and made at once: a number means another file as soon as it was closed and something else was opened.
 * @param args begin with the descriptor
 */
export function changeLater(
  { decider }: Ground,
  syscall: string,
  now: AnyFunction,
  args: readonly unknown[],
  told: Told,
): void {
  const parts = changeOf(args[0]);
  let isReturned = false;
  decider.later(parts, bare({ syscall }), (blocked) => {
    try {
      if (blocked !== undefined) throw blocked;
      if (isReturned) requireSameFile(parts, args[0], syscall);
      atOnce(now)(args, told);
    } catch (error) {
      if (!isReturned && blocked === undefined) throw error;
      inNextTick(told, error);
    }
  });
  isReturned = true;
}

function requireSameFile(decided: readonly AccessPart[], fd: unknown, syscall: string): void {
  if (changeOf(fd)[0]?.target === decided[0]?.target) return;
  throw invalidError(
    `the descriptor \`${String(fd)}\` is that of another file than when it was decided on: call \`${syscall}\` again`,
    bare({ syscall }),
  );
}

/** By the name without `Sync`. */
export const DESCRIPTOR_CALLS = Object.freeze([
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
