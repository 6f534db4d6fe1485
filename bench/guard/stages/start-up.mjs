// @ts-check
/** Purpose: how much later a guarded program begins than a bare one: all start in turns, and the quickest of each counts. */
import { obtainDeno } from "../deno.mjs";
import { openWorld } from "../world.mjs";

/** @typedef {{ bareMs: number, guardedMs: number, permissionMs: number, denoMs: number | null }} StartUp */

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
  const deno = await obtainDeno();
  const program = "nothing.cjs";
  const starts = [
    () => world.bare(program),
    () => world.guarded(program),
    () => world.permission(program),
    ...("absent" in deno ? [] : [() => world.deno(deno.command, program)]),
  ];
  const best = starts.map(() => Number.POSITIVE_INFINITY);
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [index, start] of starts.entries()) {
        const begunMs = performance.now();
        best[index] = Math.min(best[index] ?? Number.NaN, await endOf(start(), begunMs));
      }
    }
  } finally {
    await world.close();
  }
  const [bareMs = Number.NaN, guardedMs = Number.NaN, permissionMs = Number.NaN, denoMs = null] = best;
  return { bareMs, guardedMs, permissionMs, denoMs };
}
