/**
 * File calls with a shape of their own: `exists`, which has no place for an error; watchers; and what older and newer
 * Nodes offer beside the usual three forms.
 */
import type { AnyFunction } from "../any-function.ts";
import { promisify } from "node:util";
import { filePart } from "../access-part.ts";
import { refusedError } from "../blocked-call.ts";
import { apply, bare, freeze, inNextTick, inNextTurn, newPromise, put, withArgument } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { syncCall } from "./call-drivers.ts";
import { oneLook, optionsOf } from "./call-plan.ts";
import { declaredPath, declaredPlace, declaredStats, isDeclaredThere } from "./declared-place.ts";
import { watchPlan } from "./path-plans.ts";
import { nativeFs } from "./native-fs.ts";
import { isPlace, isSteady, placeOf } from "./place-of.ts";
import { watching } from "./watch-handles.ts";

const QUIET = freeze(bare({ throwIfNoEntry: false }));

/** A blocked one is an error like any other: "not there" would be an answer. */
export function existsSyncCall(ground: Ground, original: AnyFunction): AnyFunction {
  const { isConfined, decider } = ground;
  return (input) => {
    const path = isConfined ? declaredPath(ground, input) : undefined;
    if (path !== undefined) {
      decider.noteDeclared("read", path, input as string);
      return original(path);
    }
    if (!isConfined && isDeclaredThere(ground, input)) return true;
    const place = placeOf(input, "follow", "access");
    if (!isPlace(place)) return original(place.argument);
    decider.now([filePart("read", place)], bare({ syscall: "access", path: place.requested }));
    return original(place.path);
  };
}

/** `accessSync`: what is there and real exists, which is all that is asked without a mode. */
export function accessSyncCall(ground: Ground, original: AnyFunction, longWay: AnyFunction): AnyFunction {
  const { isConfined } = ground;
  return (input, mode) => {
    if (mode !== undefined && typeof mode !== "number") return longWay(input, mode);
    if (!isConfined && (mode === undefined || mode === 0))
      return isDeclaredThere(ground, input) ? undefined : longWay(input, mode);
    const path = declaredPlace(ground, input);
    return path === undefined ? longWay(input, mode) : original(path, mode);
  };
}

/** `statSync` and `lstatSync`. */
export function statSyncCall(ground: Ground, original: AnyFunction, longWay: AnyFunction): AnyFunction {
  const { isConfined, decider } = ground;
  const plain = (path: string): object | undefined => original(path, QUIET) as object | undefined;
  return (input, given) => {
    if (given === undefined) {
      const path = isConfined ? declaredPath(ground, input) : undefined;
      if (path === undefined)
        return (isConfined ? undefined : declaredStats(ground, input, plain)) ?? longWay(input);
      decider.noteDeclared("read", path, input as string);
      return original(path);
    }
    const options = optionsOf(given);
    const isNumeric = options !== undefined && (options["bigint"] ?? false) === false;
    const stats = isNumeric ? declaredStats(ground, input, plain) : undefined;
    return stats ?? longWay(input, options ?? given);
  };
}

/** WHY: its callback has no place for an error, so a blocked one is told as not there. */
export function existsCallbackCall(ground: Ground, original: AnyFunction): AnyFunction {
  const { decider, isConfined } = ground;
  const exists: AnyFunction = (...args) => {
    const callback = args[1] as (isThere: boolean) => void;
    if (typeof callback !== "function") return apply(original, undefined, ["", callback]);
    const place = placeOf(args[0], "follow", "access");
    if (!isPlace(place)) return apply(original, undefined, [place.argument, callback]);
    const facts = bare({ syscall: "access", path: place.requested });
    decider.later([filePart("read", place)], facts, (blocked) => {
      if (blocked !== undefined) inNextTick(callback, false);
      else if (isConfined) apply(original, undefined, [place.path, callback]);
      else {
        const isThere = isSteady(place) && nativeFs.existsSync(place.path);
        inNextTurn(() => callback(isThere), undefined, undefined);
      }
    });
    return undefined;
  };
  put(
    exists,
    promisify.custom,
    (path: unknown) => newPromise((resolve) => void exists(path, resolve)),
    false,
  );
  return exists;
}

/** `watch` and `fs.promises.watch`: decided at once, since what they return is a watcher. */
export function watchCall(ground: Ground, original: AnyFunction): AnyFunction {
  const plain = syncCall(
    bare({ ground, original: watching(original), plan: watchPlan, syscall: "watch", hasEncoding: true }),
  );
  return (...args) => {
    const options = optionsOf(args[1]);
    if (options?.["recursive"] === true)
      throw refusedError(
        "a recursive watch follows what comes later and cannot be checked: watch folders one by one",
        bare({ syscall: "watch" }),
      );
    return apply(plain, undefined, args);
  };
}

/** `watchFile(path, options?, listener)`. */
export function watchFileCall(ground: Ground, original: AnyFunction): AnyFunction {
  return syncCall(bare({ ground, original: watching(original), plan: oneLook("follow"), syscall: "watch" }));
}

/** Undoes what was watched under the real path; touches nothing. */
export function unwatchFileCall(original: AnyFunction): AnyFunction {
  return (...args) => {
    const place = placeOf(args[0], "follow", "watch");
    return apply(original, undefined, withArgument(args, 0, isPlace(place) ? place.path : place.argument));
  };
}

/** Refused whoever calls it; `instead` says what to use. */
export function refusedCall(name: string, instead: string): AnyFunction {
  return () => {
    throw refusedError(`\`${name}\` is refused to guarded code: ${instead}`, bare({ syscall: name }));
  };
}
