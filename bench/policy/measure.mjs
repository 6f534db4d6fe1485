// @ts-check
/**
 * Purpose: how time is taken. Engines take turns, round after round, in one process; the figure of an engine is its
 * fastest window, and every window's answers are counted against the oracle.
 *
 * What a window costs is the smaller of wall time and process CPU time. WHY: both are at least what the asking thread
 * worked, wall time because other programs interrupt it, CPU time because it holds the runtime's helper threads as
 * well; so the smaller one is the tighter bound, for long windows of slow engines as for short ones of fast engines.
 */

/** @typedef {import("./engines/engine.mjs").Loaded} Loaded */

/**
 * An engine under measurement: `window` is how many queries one window asks.
 * @typedef {{ id: string, loaded: Loaded, window: number, checked: number, costs: number[] }} Entrant
 * @typedef {{ id: string, ns: number, medianNs: number, p50Ns: number, p99Ns: number, window: number, checked: number }} Figure
 */

const BATCH = 16;

/** Takes the time of one call. @param {() => number | Promise<number>} work @returns {Promise<{ ns: number, allowed: number }>} */
async function timed(work) {
  const cpu = process.cpuUsage();
  const started = performance.now();
  const answer = work();
  const allowed = typeof answer === "number" ? answer : await answer;
  const wallNs = (performance.now() - started) * 1e6;
  const { user, system } = process.cpuUsage(cpu);
  // WHY: a very short window can show no CPU time at all.
  const cpuNs = (user + system) * 1e3 || wallNs;
  return { ns: Math.min(wallNs, cpuNs), allowed };
}

/**
 * Compares with the oracle, one query at a time, all of them or as many as the budget lasts for.
 * @param {string} id @param {Loaded} loaded @param {{ checkMs: number, windowMs: number }} budget
 * @returns {Promise<Entrant>}
 */
export async function enter(id, loaded, { checkMs, windowMs }) {
  loaded.prepare?.();
  const started = performance.now();
  let checked = 0;
  while (checked < loaded.count && (checked < 3 || performance.now() - started < checkMs)) {
    const answer = loaded.ask(checked, checked + 1);
    const allowed = typeof answer === "number" ? answer : await answer;
    if ((allowed === 1) !== loaded.expected(checked)) {
      throw new Error(
        `\`${id}\` is wrong about query ${checked}: the oracle says ${loaded.expected(checked)}`,
      );
    }
    checked++;
  }
  return { id, loaded, window: await windowLength(loaded, checked, windowMs), checked, costs: [] };
}

/**
 * How many queries fill a window, tried with more and more of them so that a compiler has time to warm.
 * @param {Loaded} loaded @param {number} most @param {number} windowMs
 */
async function windowLength(loaded, most, windowMs) {
  for (let length = Math.min(3, most); ; length = Math.min(length * 6, most)) {
    loaded.prepare?.();
    const { ns } = await timed(() => loaded.ask(0, length));
    if (ns > windowMs * 2e5) return Math.max(1, Math.min(most, Math.round((length * windowMs * 1e6) / ns)));
    if (length === most) return most;
  }
}

/** One window; its number of allowed queries must be the oracle's. @param {Entrant} entrant @returns {Promise<number>} milliseconds */
async function runWindow(entrant) {
  const { id, loaded, window } = entrant;
  loaded.prepare?.();
  const { ns, allowed } = await timed(() => loaded.ask(0, window));
  if (allowed !== allowedIn(loaded, window)) throw new Error(`\`${id}\` is wrong in a timed window`);
  entrant.costs.push(ns / window);
  return ns / 1e6;
}

/** @type {WeakMap<Loaded, number>} */
const known = new WeakMap();

/** @param {Loaded} loaded @param {number} window */
function allowedIn(loaded, window) {
  let allowed = known.get(loaded);
  if (allowed === undefined) {
    allowed = 0;
    for (let at = 0; at < window; at++) if (loaded.expected(at)) allowed++;
    known.set(loaded, allowed);
  }
  return allowed;
}

/**
 * @param {readonly Entrant[]} entrants
 * @param {{ rounds: number, warmUps: number, turnMs?: number }} options
 * `turnMs`: a turn has as many windows as fit, at least one, so that fast and slow engines have the same time to show
 * a window that nothing disturbed
 */
export async function runRounds(entrants, { rounds, warmUps, turnMs = 0 }) {
  for (const entrant of entrants) {
    for (let turn = 0; turn < warmUps; turn++) await runWindow(entrant);
    entrant.costs.length = 0;
  }
  for (let round = 0; round < rounds; round++) {
    for (const entrant of entrants) {
      let spentMs = 0;
      do spentMs += await runWindow(entrant);
      while (spentMs < turnMs);
    }
  }
}

/** @param {readonly number[]} sorted @param {number} share */
const quantile = (sorted, share) =>
  /** @type {number} */ (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);

/** @param {readonly number[]} values */
export const ascending = (values) => values.toSorted((left, right) => left - right);

/** What one query of a batch took, over one more pass. @param {Entrant} entrant */
async function runBatches({ loaded, window }) {
  loaded.prepare?.();
  const size = window < BATCH * 20 ? 1 : BATCH;
  /** @type {number[]} */
  const costs = [];
  for (let from = 0; from + size <= window; from += size) {
    const started = performance.now();
    const answer = loaded.ask(from, from + size);
    if (typeof answer !== "number") await answer;
    costs.push(((performance.now() - started) * 1e6) / size);
  }
  return ascending(costs);
}

/** @param {Entrant} entrant @returns {Promise<Figure>} */
export async function figureOf(entrant) {
  const costs = ascending(entrant.costs);
  const batches = await runBatches(entrant);
  return {
    id: entrant.id,
    ns: quantile(costs, 0),
    medianNs: quantile(costs, 0.5),
    p50Ns: quantile(batches, 0.5),
    p99Ns: quantile(batches, 0.99),
    window: entrant.window,
    checked: entrant.checked,
  };
}

/** The fastest window. @param {Entrant} entrant */
export const fastest = ({ costs }) => Math.min(...costs);
