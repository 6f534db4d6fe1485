/**
 * `close` by number. What one of Node's threads is about to close is closed for everybody from now on, since whatever got its
 * number meanwhile would be closed instead. The number of a handle belongs to the handle, whose calls mean it: for the program
 * it is closed, and with the handle it really is.
 */
import type { AnyFunction } from "../any-function.ts";
import { apply, inNextTick } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { toldTo } from "./at-once.ts";
import { failing } from "./call-drivers.ts";
import { requireForeign } from "./descriptor-calls.ts";
import { beginClose, endClose, isOfHandle } from "./numbers-in-use.ts";

type Callback = (error: unknown) => void;

export function closeSyncCall(ground: Ground, original: AnyFunction): AnyFunction {
  return (...args) => {
    requireForeign(ground, args[0], "close");
    return isOfHandle(args[0]) ? undefined : apply(original, undefined, args);
  };
}

export function closeCallbackCall(ground: Ground, original: AnyFunction): AnyFunction {
  return (...args) => {
    const fd = args[0];
    const isToBeTold = typeof args[1] === "function";
    if (typeof fd !== "number" || (!isToBeTold && args[1] !== undefined))
      return apply(original, undefined, args);
    const callback = isToBeTold ? (args[1] as Callback) : orThrow;
    try {
      requireForeign(ground, fd, "close");
    } catch (error) {
      failing(callback)(error);
      return undefined;
    }
    if (isOfHandle(fd)) {
      inNextTick(toldTo(callback), null);
      return undefined;
    }
    const call = beginClose(fd);
    const told = function told(this: unknown, error: unknown): void {
      endClose(fd, call);
      apply(callback, this, [error]);
    };
    try {
      return apply(original, undefined, [fd, told]);
    } catch (error) {
      endClose(fd, call);
      throw error;
    }
  };
}

/** WHY: as Node does where nobody wants to know. */
function orThrow(error: unknown): void {
  if (error !== null && error !== undefined) throw error;
}
