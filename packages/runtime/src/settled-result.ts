/**
 * What guarded code hands back, settled in the frame of that code.
 */
import { types } from "node:util";

/** WHY: `then` may be a getter; asked in the frame of the code that it is from. */
export const isThenable = (result: unknown): boolean =>
  types.isPromise(result) ||
  (((typeof result === "object" && result !== null) || typeof result === "function") &&
    typeof Reflect.get(result, "then") === "function");

/**
 * A promise of our own for what guarded code hands back.
 * INVARIANT: called in the frame of that code. Its `then` and its `constructor` are code as well, and a host that awaits
 * them would run them as itself.
 */
export async function settled(result: unknown, letGo: () => void): Promise<unknown> {
  try {
    return await result;
  } finally {
    letGo();
  }
}
