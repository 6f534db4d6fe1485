// @ts-check
/**
 * Purpose: the floor of a repeated question: one hit in a bare `Map` on the same keys, in a loop of the same shape.
 * No subject, no operation, no revision: it answers the hot targets and nothing else.
 */
import { pickHot } from "../workload.mjs";
import { repeated } from "./sallyport.mjs";

/** @typedef {import("../workload.mjs").Workload} Workload */

/** @type {import("./engine.mjs").Engine} */
export const bareMap = {
  id: "map",
  label: "bare Map hit, repeated",
  load(workload) {
    const hot = pickHot(workload);
    const keys = hot.map((at) => workload.queries[at]?.target ?? "");
    /** @type {Map<string, { readonly allowed: boolean }>} */
    const answers = new Map();
    hot.forEach((at, index) => {
      answers.set(keys[index] ?? "", Object.freeze({ allowed: workload.expected[at] === true }));
    });
    return repeated(hot, workload, (from, to) => {
      let allowed = 0;
      for (let at = from; at < to; at++) {
        const answer = answers.get(/** @type {string} */ (keys[at]));
        if (answer !== undefined && answer.allowed) allowed++;
      }
      return allowed;
    });
  },
};
