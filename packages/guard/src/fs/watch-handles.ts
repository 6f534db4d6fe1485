/**
 * The native objects below watchers: they watch the place that was decided on and no other. Whoever has a watcher has its
 * class, which would tell of any place.
 */
import type { AnyFunction } from "../any-function.ts";
import { SafeMap } from "@sallyport/gate/captured";
import { refusedError } from "../blocked-call.ts";
import { apply, bare, freeze } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { nativePrototype } from "../native-class.ts";
import { replaceExport } from "../replace-export.ts";
import { requireSteady } from "./at-once.ts";
import { tellWhatIsSeen } from "./watched-file.ts";

/** Asks again and again. */
const POLLS = "StatWatcher";
const CLASSES = Object.freeze([
  ["fs_event_wrap", "FSEvent"],
  ["fs", POLLS],
] as const);
/** WHY: what was decided on and is not watched yet; a watcher by promise begins when it is first asked. */
const PLACES_MAX = 1024;
const places = new SafeMap<string, number>();

/** Before the program runs. */
export function guardWatchHandles({ isConfined }: Pick<Ground, "isConfined">): void {
  for (const [module, name] of CLASSES) {
    const prototype = nativePrototype(module, name);
    if (prototype !== undefined)
      replaceExport(
        prototype,
        "start",
        (original) =>
          function start(this: object, ...args: unknown[]) {
            const path = args[0];
            if (typeof path !== "string" || !takePlace(path))
              throw refusedError(
                "a native watcher is started by `fs.watch` alone",
                bare({ syscall: "watch" }),
              );
            // WHY again: a watcher by promise begins when it is first asked, and the program ran since it was decided on.
            if (!isConfined) requireSteady(watchedAt(path));
            if (!isConfined && name === POLLS) tellWhatIsSeen(this, path);
            return apply(original, this, args);
          },
      );
  }
}

function watchedAt(path: string): Parameters<typeof requireSteady>[0] {
  const place = bare({ path, requested: path, exists: true });
  return bare({ places: freeze([place]), facts: bare({ syscall: "watch", path }) });
}

function takePlace(path: string): boolean {
  const left = places.get(path);
  if (left === undefined) return false;
  if (left > 1) places.set(path, left - 1);
  else places.delete(path);
  return true;
}

/** Node's function for a place that was decided on: its native object may watch it, once. */
export function watching(original: AnyFunction): AnyFunction {
  return (...args) => {
    const path: unknown = args[0];
    if (typeof path === "string") {
      if (places.size >= PLACES_MAX) places.delete(places.oldest());
      places.set(path, (places.get(path) ?? 0) + 1);
    }
    return apply(original, undefined, args);
  };
}
