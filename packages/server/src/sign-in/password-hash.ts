/**
 * Passwords as scrypt hashes, each with its own salt and its cost beside it. Bounded: few are hashed at a time, because
 * each takes memory and a whole core. Never keeps, logs or compares a password in any other form.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

export interface PasswordHash {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: string;
  readonly hash: string;
}

/** 32 MiB for each. */
const COST = 32_768;
const BLOCK_SIZE = 8;
const PARALLELIZATION = 1;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
const COST_MAX = 1_048_576;

const RUNNING_MAX = 2;
const WAITING_MAX = 32;

/** Too many are being hashed. */
export class HashingBusyError extends Error {
  override readonly name = "HashingBusyError";
}

let running = 0;
const waiting: (() => void)[] = [];

export async function hashPassword(password: string): Promise<PasswordHash> {
  const salt = randomBytes(SALT_BYTES);
  const cost = { cost: COST, blockSize: BLOCK_SIZE, parallelization: PARALLELIZATION };
  const hash = await derived(password, salt, cost);
  return Object.freeze({ ...cost, salt: salt.toString("base64url"), hash: hash.toString("base64url") });
}

/** `null`: there is no such account, which takes as long as a wrong password. */
export async function isPassword(password: string, held: PasswordHash | null): Promise<boolean> {
  const { salt, hash, ...cost } = held ?? NOBODY;
  if (cost.cost > COST_MAX) return false;
  const expected = Buffer.from(hash, "base64url");
  const given = await derived(password, Buffer.from(salt, "base64url"), cost);
  return given.length === expected.length && timingSafeEqual(given, expected) && held !== null;
}

const NOBODY: PasswordHash = Object.freeze({
  cost: COST,
  blockSize: BLOCK_SIZE,
  parallelization: PARALLELIZATION,
  salt: Buffer.alloc(SALT_BYTES, 1).toString("base64url"),
  hash: Buffer.alloc(HASH_BYTES, 1).toString("base64url"),
});

async function derived(
  password: string,
  salt: Buffer,
  { cost, blockSize, parallelization }: Omit<PasswordHash, "salt" | "hash">,
): Promise<Buffer> {
  await entered();
  try {
    return await new Promise((resolve, reject) => {
      const options = { N: cost, r: blockSize, p: parallelization, maxmem: 256 * cost * blockSize };
      // WHY normalized: the same letters can be typed in two forms.
      scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, key) => {
        if (error === null) resolve(key);
        else reject(error);
      });
    });
  } finally {
    const next = waiting.shift();
    // WHY: whoever waits longest gets the place itself, so that nobody slips in between.
    if (next === undefined) running -= 1;
    else next();
  }
}

async function entered(): Promise<void> {
  if (running < RUNNING_MAX) {
    running += 1;
    return;
  }
  if (waiting.length >= WAITING_MAX) throw new HashingBusyError("too many sign-ins at a time");
  await new Promise<void>((resolve) => waiting.push(resolve));
}
