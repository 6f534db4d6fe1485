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
 * @typedef {{ size: number, rounds: number, checkMs: number, windowMs: number, isQuick: boolean }} Options
 */

/** WHY: Cedar needs ten seconds and more for 100 000 rules; its sets are apart, so five subjects ask the same of it. */
const QUICK_CEDAR_SUBJECTS = 5;

/** The quick form keeps the two peers that the gates name. @param {boolean} isQuick @returns {Promise<Engine[]>} */
async function peers(isQuick) {
  const { caslLambda, caslMongo } = await import("../engines/casl.mjs");
  const { cedarSharded } = await import("../engines/cedar.mjs");
  if (isQuick) return [caslLambda, cedarSharded];
  const { casbinSharded, casbinWhole } = await import("../engines/casbin.mjs");
  const { oso } = await import("../engines/oso.mjs");
  const { roleAcl } = await import("../engines/role-acl.mjs");
  return [caslLambda, caslMongo, casbinWhole, casbinSharded, cedarSharded, oso, roleAcl];
}

/** @param {Options} options @returns {Promise<Comparison>} */
export async function run({ size, rounds, checkMs, windowMs, isQuick }) {
  const workload = makeWorkload(size);
  const engines = [sallyportCold, sallyportHot, bareMap, ...(await peers(isQuick))];
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
