/**
 * Binds listeners to the context they are registered in, for the whole process. The host begins it before guarded code
 * runs. What it cannot reach: functions that are kept and called without an event; the owner of a pool of such
 * callbacks binds them with `keeper.bind`. Not a wall: code in the same process can replace the methods again.
 */
import { addKeeper, isFollowing, removeKeeper } from "./bound-listener.ts";
import { freeze } from "./captured.ts";
import type { ContextKeeper } from "./context-keeper.ts";
import { emitterReplacements } from "./emitter-listeners.ts";
import { type Replacement, replaceMethods } from "./replaced-methods.ts";
import { targetReplacements } from "./target-listeners.ts";

export interface Following {
  /** Listeners that were bound stay bound. Ending twice is ending once. */
  stop(): void;
}

let putBack: (() => void) | undefined;
let targets: readonly Replacement[] | undefined;

/** Following with the same keeper again changes nothing. Several keepers follow side by side. */
export function followListeners(keeper: ContextKeeper): Following {
  addKeeper(keeper);
  if (putBack === undefined) {
    targets ??= targetReplacements();
    putBack = replaceMethods([...emitterReplacements(), ...targets]);
  }
  return freeze({
    stop: () => {
      removeKeeper(keeper);
      if (isFollowing()) return;
      putBack?.();
      putBack = undefined;
    },
  });
}
