/** Randomness as an argument: the same seed gives the same case everywhere. */

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** Mulberry32: small, quick and the same everywhere. */
export function prng(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** From `least` to `most`, both included. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

export function pick<T>(random: Random, pool: readonly T[]): T {
  return pool[between(random, 0, pool.length - 1)] as T;
}
