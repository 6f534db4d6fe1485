// @ts-check
/** Purpose: a session of calls as a remote host opens one, with its key at hand so that calls can be made beforehand. */
import { createECDH, hkdfSync } from "node:crypto";
import { callSessionInfo } from "@sallyport/contract/remote";
import { Caller } from "./caller.mjs";

const PATH = "/v1/runtime/session";

/**
 * @param {string} origin @param {string} thumbprint
 * @param {(path: string, body: string) => Promise<Record<string, string>>} prove
 */
export async function openCallSession(origin, thumbprint, prove) {
  const own = createECDH("prime256v1");
  own.generateKeys();
  const body = JSON.stringify({ public_key: own.getPublicKey("base64url") });
  const caller = new Caller(origin);
  const { json } = await caller.post(PATH, body, await prove(PATH, body));
  caller.close();
  const secret = own.computeSecret(Buffer.from(json.public_key, "base64url"));
  const info = callSessionInfo(json.session_id, thumbprint);
  const key = new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(), info, 32));
  return { sessionId: /** @type {string} */ (json.session_id), key };
}
