// @ts-check
/** Purpose: the stages of the service bench, each in a process of its own. */
import { serveStage, startStage } from "../harness/stage.mjs";

const STAGES = Object.freeze({
  durable: () => import("./stages/durable.mjs"),
  reading: () => import("./stages/reading.mjs"),
  pending: () => import("./stages/pending.mjs"),
  audit: () => import("./stages/audit.mjs"),
  stall: () => import("./stages/stall.mjs"),
  wake: () => import("./stages/wake.mjs"),
  neighbour: () => import("./neighbour.mjs"),
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
