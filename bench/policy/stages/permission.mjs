// @ts-check
/** Purpose: Node's permission model and our engine on the same path rules, taking turns in a process that has both. */
import { nodePermission } from "../engines/node-permission.mjs";
import { sallyportCold } from "../engines/sallyport.mjs";
import { enter, figureOf, runRounds } from "../measure.mjs";
import { makePathWorkload } from "../workload.mjs";

/** @param {{ size: number, rounds: number, checkMs: number, windowMs: number }} options @returns {Promise<import("./compare.mjs").Comparison>} */
export async function run({ size, rounds, checkMs, windowMs }) {
  const workload = makePathWorkload(size);
  const entrants = [
    await enter("sallyport-paths", await sallyportCold.load(workload), { checkMs, windowMs }),
    await enter(nodePermission.id, await nodePermission.load(workload), { checkMs, windowMs }),
  ];
  await runRounds(entrants, { rounds, warmUps: 1, turnMs: windowMs });
  const labels = ["Sallyport, the same path rules", nodePermission.label];
  /** @type {import("./compare.mjs").Row[]} */
  const rows = [];
  for (const [index, entrant] of entrants.entries()) {
    rows.push({ ...(await figureOf(entrant)), label: labels[index] ?? "", loadMs: NaN });
  }
  return { size, hits: workload.expected.filter(Boolean).length, rows };
}
