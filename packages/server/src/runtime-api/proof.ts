/**
 * Proof of possession (RFC 9449, with a digest of the body): every call of a remote host is signed with the key that its
 * credential is bound to, so that a token alone, or a call that was overheard, is worth nothing.
 * Trusts the verified credential for the thumbprint; nothing else of the call is believed before the signature holds.
 */
import { createHash } from "node:crypto";
import { type JWK, calculateJwkThumbprint, decodeProtectedHeader, importJWK, jwtVerify } from "jose";

export interface ProvenCall {
  readonly proof: string;
  readonly method: string;
  /** Origin and path as the server knows them, without a query. */
  readonly url: string;
  readonly body: Uint8Array;
  readonly token: string;
  readonly keyThumbprint: string;
  readonly nowMs: number;
}

export type Proof =
  | { readonly ok: true; readonly id: string; readonly untilMs: number }
  | { readonly ok: false; readonly message: string };

/** How far the clocks of holder and server may be apart, and how long a proof may travel. */
export const PROOF_WINDOW_MS = 60_000;
const PROOF_LENGTH_MAX = 4096;
const PROOF_ID = /^[A-Za-z0-9_-]{16,128}$/;

export async function verifyProof(call: ProvenCall): Promise<Proof> {
  const { proof, nowMs } = call;
  if (proof.length > PROOF_LENGTH_MAX) return refused("the proof is too long");
  const key = await keyOf(proof, call.keyThumbprint);
  if (key === undefined) return refused("the proof is not made with the key of the credential");
  let claims: Record<string, unknown>;
  try {
    const verified = await jwtVerify(proof, key, {
      algorithms: ["ES256"],
      typ: "dpop+jwt",
      currentDate: new Date(nowMs),
      // WHY: the window below is the one rule about time; a claim of the proof cannot shorten or stretch it.
      clockTolerance: Number.MAX_SAFE_INTEGER,
    });
    claims = verified.payload;
  } catch {
    return refused("the proof is not signed with the key of the credential");
  }
  const { htm, htu, ath, body_digest: bodyDigest, iat, jti } = claims;
  if (htm !== call.method || htu !== call.url) return refused("the proof is for another call");
  if (ath !== digestOf(call.token)) return refused("the proof is for another credential");
  if (bodyDigest !== digestOf(call.body)) return refused("the proof is for another body");
  if (typeof jti !== "string" || !PROOF_ID.test(jti)) return refused("the proof has no id of its own");
  if (typeof iat !== "number") return refused("the proof does not say when it was made");
  const madeAtMs = iat * 1000;
  if (!(Math.abs(nowMs - madeAtMs) <= PROOF_WINDOW_MS))
    return refused("the proof is stale or from the future: make a new one, and set the clock");
  return { ok: true, id: jti, untilMs: madeAtMs + PROOF_WINDOW_MS + 1 };
}

async function keyOf(proof: string, keyThumbprint: string) {
  try {
    const { jwk } = decodeProtectedHeader(proof);
    if (jwk === undefined || jwk.kty !== "EC" || jwk.crv !== "P-256") return undefined;
    const { kty, crv, x, y } = jwk;
    if (x === undefined || y === undefined) return undefined;
    const bare: JWK = { kty, crv, x, y };
    if ((await calculateJwkThumbprint(bare, "sha256")) !== keyThumbprint) return undefined;
    return await importJWK(bare, "ES256");
  } catch {
    return undefined;
  }
}

const digestOf = (bytes: string | Uint8Array): string =>
  createHash("sha256").update(bytes).digest("base64url");

const refused = (message: string): Proof => ({ ok: false, message });
