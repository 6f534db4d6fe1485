// @ts-check
/** Purpose: how many events a second become durable in batches, and how many a second are verified. */
import { fillEvents, openScratchStore } from "../filling.mjs";
import { startNode } from "../node-under-bench.mjs";

/** @typedef {{ rows: number, appendPerSecond: number, verifyPerSecond: number }} Audit */

/** @param {{ rows: number, rounds: number }} options @returns {Promise<Audit>} */
export async function run({ rows, rounds }) {
  const { store, close } = await openScratchStore();
  const service = await startNode(store);
  let appendPerSecond = 0;
  for (let round = 0; round < rounds; round++) {
    const share = Math.ceil(rows / rounds);
    appendPerSecond = Math.max(appendPerSecond, (share / (await fillEvents(service, share))) * 1000);
  }
  let verifyPerSecond = 0;
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    const report = await service.audit.verify();
    const ms = performance.now() - started;
    if (!report.ok) throw new Error(report.message);
    verifyPerSecond = Math.max(verifyPerSecond, (rows / ms) * 1000);
  }
  await service.stop();
  await close();
  return { rows, appendPerSecond, verifyPerSecond };
}
