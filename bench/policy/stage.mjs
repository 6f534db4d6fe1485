// @ts-check
/** Purpose: the stages of the policy bench, each in a process of its own. */
import { serveStage, startStage } from "../harness/stage.mjs";

const STAGES = Object.freeze({
  compare: () => import("./stages/compare.mjs"),
  growth: () => import("./stages/growth.mjs"),
  memory: () => import("./stages/memory.mjs"),
  change: () => import("./stages/change.mjs"),
  permission: () => import("./stages/permission.mjs"),
});

/**
 * Runs a stage and waits for its result.
 * @template T
 * @param {keyof typeof STAGES} name @param {object} options @param {string[]} [nodeFlags]
 * @returns {Promise<T>}
 */
export function runStage(name, options, nodeFlags = []) {
  return /** @type {Promise<T>} */ (startStage(import.meta.url, name, options, nodeFlags).finished);
}

await serveStage(import.meta.url, STAGES);
