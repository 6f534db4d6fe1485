// @ts-check
/** Purpose: the stages of the server bench, each in a process of its own. */
import { serveStage, startStage } from "../harness/stage.mjs";

const STAGES = Object.freeze({
  call: () => import("./stages/call.mjs"),
  approve: () => import("./stages/approve.mjs"),
  follow: () => import("./stages/follow.mjs"),
});

/**
 * Runs a stage and waits for its result.
 * @template T
 * @param {keyof typeof STAGES} name @param {object} options @returns {Promise<T>}
 */
export function runStage(name, options) {
  return /** @type {Promise<T>} */ (startStage(import.meta.url, name, options).finished);
}

await serveStage(import.meta.url, STAGES);
