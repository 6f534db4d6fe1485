/**
 * A session of calls with the server: after the holder has proved itself once with the key of its credential, calls carry
 * a MAC instead of a signature of their own. The key is derived on both sides and never travels; it lives in this process
 * only. Where no session can be had, calls are signed one by one.
 */
import {
  CALL_SESSION_SCHEME,
  callSessionInfo,
  callSessionMacInput,
  openSessionWire,
  openedSessionWire,
} from "@sallyport/contract/remote";
import { type RuntimeCredential } from "./credential.ts";
import { base64url, fromBase64url } from "./holder-key.ts";

/** Opens one: says the words to the server, signed, and gives what it answered. `undefined`: it did not. */
export type OpenSession = (words: object) => Promise<unknown>;

type MacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

interface Opened {
  readonly token: string;
  readonly sessionId: string;
  readonly key: MacKey;
  readonly expiresAtMs: number;
  number: number;
}

const CURVE = Object.freeze({ name: "ECDH", namedCurve: "P-256" });
const MAC = Object.freeze({ name: "HMAC", hash: "SHA-256" });
/** A session that could not be had is asked for again after so long. */
const AGAIN_MS = 30_000;
const EARLY_MS = 5000;

export class CallSession {
  readonly #nowMs: () => number;
  readonly #open: OpenSession;
  #opened: Opened | undefined;
  #opening: Promise<void> | undefined;
  #calls = 0;
  #againMs = 0;

  constructor(nowMs: () => number, open: OpenSession) {
    this.#nowMs = nowMs;
    this.#open = open;
  }

  /** Whether the next call may go by it. WHY not the first: a host that asks once would open one for nothing. */
  isWorthwhile(): boolean {
    this.#calls += 1;
    return this.#calls > 1;
  }

  /** The header of a call. `undefined`: it has to be signed. */
  async authorization(held: RuntimeCredential, url: string, body: string): Promise<string | undefined> {
    if (!this.#isGood(held)) {
      this.#opening ??= this.#begin(held).finally(() => {
        this.#opening = undefined;
      });
      await this.#opening;
    }
    const opened = this.#opened;
    if (opened === undefined || !this.#isGood(held)) return undefined;
    opened.number += 1;
    const { sessionId, key, number } = opened;
    const timeMs = Math.floor(this.#nowMs());
    const words = callSessionMacInput({ method: "POST", url, number, timeMs });
    const mac = await crypto.subtle.sign(MAC, key, new TextEncoder().encode(words + body));
    return `${CALL_SESSION_SCHEME} ${sessionId}.${number}.${timeMs}.${base64url(new Uint8Array(mac))}`;
  }

  /** The server does not know it any more. */
  forget(): void {
    this.#opened = undefined;
  }

  #isGood({ issued }: RuntimeCredential): boolean {
    const opened = this.#opened;
    return (
      opened !== undefined && opened.token === issued.token && this.#nowMs() < opened.expiresAtMs - EARLY_MS
    );
  }

  async #begin(held: RuntimeCredential): Promise<void> {
    this.#opened = undefined;
    if (this.#nowMs() < this.#againMs) return;
    this.#againMs = this.#nowMs() + AGAIN_MS;
    try {
      const pair = await crypto.subtle.generateKey(CURVE, false, ["deriveBits"]);
      const point = base64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
      const answer = openedSessionWire.parse(await this.#open(openSessionWire.format({ publicKey: point })));
      if (!answer.ok) return;
      const { sessionId, publicKey, expiresAtMs } = answer.value;
      const info = callSessionInfo(sessionId, held.key.thumbprint);
      const key = await derivedKey(pair.privateKey, publicKey, info);
      this.#opened = { token: held.issued.token, sessionId, key, expiresAtMs, number: 0 };
      this.#againMs = 0;
    } catch {
      // Calls are signed one by one; the next session is asked for later.
    }
  }
}

async function derivedKey(own: MacKey, serverPoint: string, info: string): Promise<MacKey> {
  const point = await crypto.subtle.importKey("raw", fromBase64url(serverPoint), CURVE, false, []);
  const secret = await crypto.subtle.deriveBits({ name: "ECDH", public: point }, own, 256);
  const material = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const words = {
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(),
    info: new TextEncoder().encode(info),
  };
  const bits = await crypto.subtle.deriveBits(words, material, 256);
  return crypto.subtle.importKey("raw", bits, MAC, false, ["sign"]);
}
