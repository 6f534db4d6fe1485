// @ts-check
/** Purpose: every engine on one workload, taking turns in one process. */
import { bareMap } from "../engines/bare-map.mjs";
import { sallyportCold, sallyportHot } from "../engines/sallyport.mjs";
import { enter, figureOf, runRounds } from "../measure.mjs";
import { makeWorkload, onlySubjects } from "../workload.mjs";

/**
 * @typedef {import("../engines/engine.mjs").Engine} Engine
 * @typedef {import("../measure.mjs").Figure & { label: string, loadMs: number }} Row
 * @typedef {{ size: number, hits: number, rows: Row[] }} Comparison
 * @typedef {{ size: number, rounds: number, checkMs: number, windowMs: number, isQuick: boolean, isApart?: boolean }} Options
 */

/** WHY: Cedar needs ten seconds and more for 100 000 rules; its sets are apart, so five subjects ask the same of it. */
const QUICK_CEDAR_SUBJECTS = 5;

/**
 * The quick form keeps the two peers that the gates name.
 * WHY Cedar first: behind the others it took six times as long to load 100 000 rules.
 * @param {boolean} isQuick @returns {Promise<Engine[]>}
 */
async function everyEngine(isQuick) {
  const { caslLambda, caslMongo } = await import("../engines/casl.mjs");
  const { cedarSharded } = await import("../engines/cedar.mjs");
  const own = [sallyportCold, sallyportHot, bareMap];
  if (isQuick) return [cedarSharded, ...own, caslLambda];
  const { casbinSharded, casbinWhole } = await import("../engines/casbin.mjs");
  const { roleAcl } = await import("../engines/role-acl.mjs");
  return [cedarSharded, ...own, caslLambda, caslMongo, casbinWhole, casbinSharded, roleAcl];
}

/**
 * Engines that are measured alone. WHY: in a process that has loaded oso our first sight takes almost twice as long
 * (why, is not known); that is not what a check costs.
 * @returns {Promise<Engine[]>}
 */
async function enginesApart() {
  const { oso } = await import("../engines/oso.mjs");
  return [oso];
}

/** @param {Options} options @returns {Promise<Comparison>} */
export async function run({ size, rounds, checkMs, windowMs, isQuick, isApart = false }) {
  const workload = makeWorkload(size);
  const engines = isApart ? await enginesApart() : await everyEngine(isQuick);
  const taking = engines.filter(({ sizeMax = Infinity }) => size <= sizeMax);
  const entrants = [];
  /** @type {number[]} */
  const loadMs = [];
  for (const engine of taking) {
    const started = performance.now();
    const isPartial = isQuick && engine.id === "cedar";
    const loaded = await engine.load(isPartial ? onlySubjects(workload, QUICK_CEDAR_SUBJECTS) : workload);
    loadMs.push(performance.now() - started);
    entrants.push(await enter(engine.id, loaded, { checkMs, windowMs }));
  }
  await runRounds(entrants, { rounds, warmUps: 1, turnMs: windowMs });
  /** @type {Row[]} */
  const rows = [];
  for (const [index, entrant] of entrants.entries()) {
    const figure = await figureOf(entrant);
    rows.push({ ...figure, label: taking[index]?.label ?? entrant.id, loadMs: loadMs[index] ?? 0 });
  }
  return { size, hits: workload.expected.filter(Boolean).length, rows };
}
