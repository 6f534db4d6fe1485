// @ts-check
/** Purpose: the stages of the sandbox bench, each in a process of its own. */
import { serveStage, startStage } from "../harness/stage.mjs";

const STAGES = Object.freeze({
  start: () => import("./stages/start.mjs"),
  spawn: () => import("./stages/spawn.mjs"),
  open: () => import("./stages/open.mjs"),
  programs: () => import("./stages/programs.mjs"),
  egress: () => import("./stages/egress.mjs"),
});

/** @param {string} name @param {object} options @returns {Promise<never>} */
export const runStage = (name, options) =>
  /** @type {Promise<never>} */ (startStage(import.meta.url, name, options).finished);

await serveStage(import.meta.url, STAGES);
