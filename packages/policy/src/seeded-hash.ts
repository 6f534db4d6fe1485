/**
 * The hash behind the index. Keyed by a seed that guarded code never sees, and not linear in the text:
 * texts that collide for every seed, as they exist for polynomial hashes, do not exist here.
 */

/** Two secret 32-bit numbers, drawn by the host at start. */
export type HashSeed = readonly [number, number];

export interface HashKey {
  readonly start: number;
  readonly multiplier: number;
  readonly finish: number;
}

export function hashKey(seed: HashSeed, round: number): HashKey {
  const start = scramble((seed[0] ^ Math.imul(round, 0x9e3779b1)) | 0);
  const multiplier = scramble((seed[1] + Math.imul(round, 0x85ebca77)) | 0) | 1;
  return { start, multiplier, finish: scramble(start ^ multiplier) | 1 };
}

/** One step of the rolling hash; prefixes of a text share the work. */
export function hashStep(hash: number, code: number, multiplier: number): number {
  const next = Math.imul(hash ^ code, multiplier);
  return next ^ (next >>> 15);
}

export function hashText(text: string, key: HashKey): number {
  let hash = key.start;
  for (let index = 0; index < text.length; index++) {
    hash = hashStep(hash, text.charCodeAt(index), key.multiplier);
  }
  return hash;
}

/** Joins the hash of a text with the numbers beside it. Only places an entry: equality is compared field by field. */
export function hashEntry(textHash: number, owner: number, tag: number, port: number, key: HashKey): number {
  let hash = Math.imul(textHash ^ Math.imul(owner, 0x9e3779b1), key.finish);
  hash = Math.imul((hash ^ (hash >>> 16)) + Math.imul(tag, 0x85ebca77), key.multiplier);
  hash = Math.imul((hash ^ (hash >>> 13)) + Math.imul(port, 0xc2b2ae3d), key.finish);
  return hash ^ (hash >>> 16);
}

function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 16);
}
