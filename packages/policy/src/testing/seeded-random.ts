/**
 * Randomness as an argument: the same seed gives the same case everywhere.
 */

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

export function pick<T>(random: Random, pool: readonly T[]): T {
  return pool[Math.floor(random() * pool.length)] as T;
}

export function chance(random: Random, share: number): boolean {
  return random() < share;
}

export function times<T>(random: Random, least: number, most: number, make: (index: number) => T): T[] {
  const count = least + Math.floor(random() * (most - least + 1));
  const made: T[] = [];
  for (let index = 0; index < count; index++) made.push(make(index));
  return made;
}
