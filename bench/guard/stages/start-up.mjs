// @ts-check
/** Purpose: how much later a guarded program begins than a bare one: both start in turns, and the quickest of each counts. */
import { openWorld } from "../world.mjs";

/** @typedef {{ bareMs: number, guardedMs: number }} StartUp */

/** @param {import("node:child_process").ChildProcess} child @param {number} started */
async function endOf(child, started) {
  child.stdout?.resume();
  child.stdin?.end();
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`a program of the bench ended with ${code}: see above`);
  return performance.now() - started;
}

/** @param {{ rounds: number }} options @returns {Promise<StartUp>} */
export async function run({ rounds }) {
  const world = await openWorld();
  let bareMs = Number.POSITIVE_INFINITY;
  let guardedMs = Number.POSITIVE_INFINITY;
  try {
    for (let round = 0; round < rounds; round++) {
      bareMs = Math.min(bareMs, await endOf(world.bare("nothing.cjs"), performance.now()));
      guardedMs = Math.min(guardedMs, await endOf(world.guarded("nothing.cjs"), performance.now()));
    }
  } finally {
    await world.close();
  }
  return { bareMs, guardedMs };
}
