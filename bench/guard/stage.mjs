// @ts-check
/** Purpose: the stages of the guard bench, each in a process of its own. */
import { serveStage, startStage } from "../harness/stage.mjs";

const STAGES = Object.freeze({
  calls: () => import("./stages/calls.mjs"),
  startUp: () => import("./stages/start-up.mjs"),
  requests: () => import("./stages/requests.mjs"),
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
