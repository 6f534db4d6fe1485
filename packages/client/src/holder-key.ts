/**
 * The key of a process that holds a credential. Made in the process and kept there: the private part cannot be taken out,
 * so that a token that was copied is worth nothing elsewhere. Uses what every runtime has (Web Crypto, P-256).
 */

export interface HolderKey {
  /** RFC 7638, SHA-256: what a credential is bound to. */
  readonly thumbprint: string;
  /** The signed proof of one call; every call needs its own. */
  prove(call: ProofWords): Promise<string>;
}

export interface ProofWords {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly token: string;
  readonly nowMs: number;
}

const CURVE = Object.freeze({ name: "ECDSA", namedCurve: "P-256" });
const SIGNATURE = Object.freeze({ name: "ECDSA", hash: "SHA-256" });

export async function generateHolderKey(): Promise<HolderKey> {
  const pair = await crypto.subtle.generateKey(CURVE, false, ["sign", "verify"]);
  const { x = "", y = "" } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  // WHY: the order of the members is what the thumbprint is taken over.
  const jwk = Object.freeze({ crv: "P-256", kty: "EC", x, y });
  const head = encoded(JSON.stringify({ alg: "ES256", typ: "dpop+jwt", jwk }));
  return Object.freeze({
    thumbprint: await digestOf(JSON.stringify(jwk)),
    prove: async ({ method, url, body, token, nowMs }: ProofWords) => {
      const claims = {
        htm: method,
        htu: url,
        ath: await digestOf(token),
        body_digest: await digestOf(body),
        iat: nowMs / 1000,
        jti: base64url(crypto.getRandomValues(new Uint8Array(24))),
      };
      const text = `${head}.${encoded(JSON.stringify(claims))}`;
      const signature = await crypto.subtle.sign(SIGNATURE, pair.privateKey, new TextEncoder().encode(text));
      return `${text}.${base64url(new Uint8Array(signature))}`;
    },
  });
}

async function digestOf(text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

const encoded = (text: string): string => base64url(new TextEncoder().encode(text));

export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

export function base64url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
