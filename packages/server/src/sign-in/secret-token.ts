/**
 * Tokens that stand for something: random, handed out once, kept as a hash. Whoever reads the store cannot use them, and
 * a look-up by hash takes the same time for every token that is not there.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export const newToken = (): string => randomBytes(TOKEN_BYTES).toString("base64url");

export const isToken = (text: string): boolean => TOKEN.test(text);

/** How a token is known in the store. */
export const tokenId = (token: string): string => hash("sha256", token, "hex");

/** Constant time for texts of one length. */
export function isSameSecret(given: string, held: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", held, "buffer"));
}
