// @ts-check
/**
 * Purpose: our engine with few rules against our engine with many, and a repeated target against a bare Map hit;
 * alone in a process, window by window in turns.
 */
import { bareMap } from "../engines/bare-map.mjs";
import { sallyportCold, sallyportHot } from "../engines/sallyport.mjs";
import { enter, fastest, runRounds } from "../measure.mjs";
import { makeWorkload } from "../workload.mjs";

/**
 * @typedef {{ few: number, many: number, rounds: number }} Options
 * @typedef {{ fewNs: number, manyNs: number, ratio: number }} Pair
 * @typedef {{ few: number, many: number, cold: Pair, hot: Pair, mapNs: number, hotToMap: number }} Growth
 */

const HOT_WINDOWS = 10;

/** @param {Options} options @returns {Promise<Growth>} */
export async function run({ few, many, rounds }) {
  const workloads = [makeWorkload(few), makeWorkload(many)];
  const budget = { checkMs: 60_000, windowMs: 60_000 };
  const cold = [];
  const hot = [];
  for (const workload of workloads) {
    cold.push(await enter(`cold ${workload.size}`, await sallyportCold.load(workload), budget));
    hot.push(await enter(`hot ${workload.size}`, await sallyportHot.load(workload), budget));
  }
  const map = await enter(
    "map",
    await bareMap.load(/** @type {NonNullable<(typeof workloads)[1]>} */ (workloads[1])),
    budget,
  );
  await runRounds(cold, { rounds, warmUps: 3 });
  await runRounds([...hot, map], { rounds: rounds * HOT_WINDOWS, warmUps: 20 });
  const [coldFew = NaN, coldMany = NaN, hotFew = NaN, hotMany = NaN] = [...cold, ...hot].map(fastest);
  return growthOf(few, many, pairOf(coldFew, coldMany), pairOf(hotFew, hotMany), fastest(map));
}

/** The fastest of several processes, figure by figure. @param {readonly Growth[]} runs @returns {Growth} */
export function joinGrowth(runs) {
  const least = (/** @type {(one: Growth) => number} */ figure) => Math.min(...runs.map(figure));
  const cold = pairOf(
    least((one) => one.cold.fewNs),
    least((one) => one.cold.manyNs),
  );
  const hot = pairOf(
    least((one) => one.hot.fewNs),
    least((one) => one.hot.manyNs),
  );
  const [{ few, many }] = /** @type {[Growth]} */ (runs);
  return growthOf(
    few,
    many,
    cold,
    hot,
    least((one) => one.mapNs),
  );
}

/** @param {number} fewNs @param {number} manyNs @returns {Pair} */
const pairOf = (fewNs, manyNs) => ({ fewNs, manyNs, ratio: manyNs / fewNs });

/** @param {number} few @param {number} many @param {Pair} cold @param {Pair} hot @param {number} mapNs @returns {Growth} */
const growthOf = (few, many, cold, hot, mapNs) => ({
  few,
  many,
  cold,
  hot,
  mapNs,
  hotToMap: hot.manyNs / mapNs,
});
