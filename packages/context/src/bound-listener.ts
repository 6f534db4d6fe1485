/**
 * The listeners that were bound at registration, and for which keepers. Both kinds of events share it. Must never show
 * a bound listener where the program expects its own function.
 */
import { SafeWeakMap, apply, defineProperty, put } from "./captured.ts";
import type { ContextKeeper } from "./context-keeper.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- a listener takes what its event brings
export type Listener = (this: unknown, ...args: any[]) => unknown;

/** `always` stands for the original and is hidden; `once` stands for itself, as the wrapper of Node's own `once` does. */
interface Binding {
  readonly kind: "always" | "once";
  readonly original: Listener;
}

let keepers: readonly ContextKeeper[] = [];
const bindings = new SafeWeakMap<Listener, Binding>();

export function isFollowing(): boolean {
  return keepers.length > 0;
}

/** `false` where it was there already. */
export function addKeeper(keeper: ContextKeeper): boolean {
  const grown: ContextKeeper[] = [];
  for (let index = 0; index < keepers.length; index++) {
    if (keepers[index] === keeper) return false;
    put(grown, index, keepers[index]);
  }
  put(grown, keepers.length, keeper);
  keepers = grown;
  return true;
}

export function removeKeeper(keeper: ContextKeeper): void {
  const left: ContextKeeper[] = [];
  for (let index = 0; index < keepers.length; index++) {
    if (keepers[index] !== keeper) put(left, left.length, keepers[index]);
  }
  keepers = left;
}

/** In the context that each keeper holds now. */
export function bindNow(listener: Listener): Listener {
  let bound = listener;
  for (let index = 0; index < keepers.length; index++) {
    bound = (keepers[index] as ContextKeeper).bind(bound);
  }
  return bound;
}

export function bindingOf(listener: Listener): Binding | undefined {
  return bindings.get(listener);
}

/** Node compares and shows `listener` of a stored function, so removal and `listeners()` work with the original. */
export function standFor(bound: Listener, binding: Binding, shown: Listener): Listener {
  defineProperty(bound, "listener", {
    __proto__: null,
    value: shown,
    enumerable: true,
    configurable: true,
    writable: true,
  } as PropertyDescriptor);
  bindings.set(bound, binding);
  return bound;
}

export function call(fn: unknown, receiver: unknown, args: ArrayLike<unknown>): unknown {
  return apply(fn as Listener, receiver, args);
}
