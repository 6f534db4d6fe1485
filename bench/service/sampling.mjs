// @ts-check
/**
 * Purpose: how time is taken for calls that wait for a disk or a server. Kinds of calls take turns, round after round;
 * the figure of a kind is the smallest median of its rounds, since a shared disk only ever adds.
 */

/**
 * @typedef {{ bestMs: number, p50Ms: number, p99Ms: number, count: number }} Figure
 * `bestMs`: the smallest median of a round; the others are over all calls
 * @typedef {Readonly<Record<string, () => unknown>>} Kinds
 */

/** @param {readonly number[]} values */
const ascending = (values) => values.toSorted((left, right) => left - right);

/** @param {readonly number[]} values @param {number} share */
export function quantile(values, share) {
  const sorted = ascending(values);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** What one call took. @param {() => unknown} call */
export async function taken(call) {
  const started = performance.now();
  await call();
  return performance.now() - started;
}

/**
 * Every kind in turn, `calls` times, for `rounds` rounds after one that does not count.
 * @template {string} Name
 * @param {Readonly<Record<Name, () => unknown>>} kinds
 * @param {{ rounds: number, calls: number, before?: (name: Name) => Promise<void> }} options
 * `before`: what a turn needs, outside the time that is taken
 * @returns {Promise<Record<Name, Figure>>}
 */
export async function inTurns(kinds, { rounds, calls, before }) {
  const names = /** @type {Name[]} */ (Object.keys(kinds));
  const all = new Map(names.map((name) => [name, /** @type {number[]} */ ([])]));
  const best = new Map(names.map((name) => [name, Number.POSITIVE_INFINITY]));
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      await before?.(name);
      const times = [];
      for (let call = 0; call < calls; call++) times.push(await taken(kinds[name]));
      if (round < 0) continue;
      all.get(name)?.push(...times);
      best.set(name, Math.min(best.get(name) ?? Number.NaN, quantile(times, 0.5)));
    }
  }
  const figures = names.map((name) => {
    const times = all.get(name) ?? [];
    const figure = {
      bestMs: best.get(name) ?? Number.NaN,
      p50Ms: quantile(times, 0.5),
      p99Ms: quantile(times, 0.99),
      count: times.length,
    };
    return [name, figure];
  });
  return Object.fromEntries(figures);
}
