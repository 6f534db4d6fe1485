/**
 * A way back into the asynchronous context of now.
 */
import { bindContext } from "./captured.ts";

export type Within = (work: () => void) => void;

/** WHY: foreign code may find the bound function and call it; it does only what the guard has left for it. */
export function withinNow(): Within {
  let left: (() => void) | undefined;
  const bound = bindContext(() => {
    const work = left;
    left = undefined;
    work?.();
  });
  return (work) => {
    left = work;
    bound();
    left = undefined;
  };
}
