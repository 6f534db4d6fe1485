/**
 * Short-lived keys between a remote host and this process, so that not every call has to be signed: the holder proves
 * itself once with the key of its credential, both sides derive a key that never travels (ECDH, P-256), and each call
 * carries a MAC over itself, its number and its time.
 * INVARIANT: a session can do what its token can, never for longer, and not after that was taken back. A number serves
 * once. Nothing of a call is believed before its MAC holds.
 */
import { type ECDH, createECDH, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { CALL_SESSION_SCHEME, callSessionInfo, callSessionMacInput } from "@sallyport/contract/remote";
import { PROOF_WINDOW_MS } from "./proof.ts";
import type { HeldCredential } from "./runtime-credentials.ts";

export interface CallSessionLimits {
  readonly max: number;
  /** Of one credential; the oldest goes. */
  readonly perCredentialMax: number;
  readonly ttlMs: number;
}

export const DEFAULT_SESSION_LIMITS: CallSessionLimits = Object.freeze({
  max: 10_000,
  perCredentialMax: 16,
  ttlMs: 300_000,
});

export interface OpenedSession {
  readonly sessionId: string;
  /** Raw point, base64url. */
  readonly publicKey: string;
  readonly expiresAtMs: number;
}

/** What the head of a call says; nothing of it is believed yet. */
export interface CallMark {
  readonly sessionId: string;
  readonly number: number;
  readonly timeMs: number;
  readonly mac: string;
}

interface HeldSession {
  readonly held: HeldCredential;
  readonly key: Uint8Array;
  readonly expiresAtMs: number;
  readonly numbers: SpentNumbers;
}

const CURVE = "prime256v1";
const POINT_BYTES = 65;
const MARK = /^([A-Za-z0-9_-]{43})\.([1-9][0-9]{0,15})\.([1-9][0-9]{0,15})\.([A-Za-z0-9_-]{43})$/;
/** As schemes are compared. */
export const SESSION_SCHEME = CALL_SESSION_SCHEME.toLowerCase();

export function callMark(text: string | undefined): CallMark | undefined {
  const [, sessionId, number, timeMs, mac] = MARK.exec(text ?? "") ?? [];
  if (sessionId === undefined || mac === undefined) return undefined;
  return { sessionId, number: Number(number), timeMs: Number(timeMs), mac };
}

export class CallSessions {
  readonly #limits: CallSessionLimits;
  readonly #nowMs: () => number;
  readonly #sessions = new Map<string, HeldSession>();

  constructor(nowMs: () => number, limits: Partial<CallSessionLimits> = {}) {
    this.#nowMs = nowMs;
    this.#limits = { ...DEFAULT_SESSION_LIMITS, ...limits };
  }

  /** `undefined`: that is no point of the curve. */
  open(held: HeldCredential, holderPoint: string): OpenedSession | undefined {
    const own = createECDH(CURVE);
    own.generateKeys();
    const secret = sharedSecret(own, holderPoint);
    if (secret === undefined) return undefined;
    this.#makeRoom(held.credentialId);
    const sessionId = randomBytes(32).toString("base64url");
    const info = callSessionInfo(sessionId, held.keyThumbprint);
    const key = new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(), info, 32));
    const expiresAtMs = Math.min(held.expiresAtMs, this.#nowMs() + this.#limits.ttlMs);
    this.#sessions.set(sessionId, { held, key, expiresAtMs, numbers: new SpentNumbers() });
    return { sessionId, publicKey: own.getPublicKey("base64url"), expiresAtMs };
  }

  /** Whose session it would be; for a refusal, or before the MAC is looked at. */
  holder({ sessionId }: CallMark): HeldCredential | undefined {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || this.#nowMs() < session.expiresAtMs) return session?.held;
    this.#sessions.delete(sessionId);
    return undefined;
  }

  /** `null`: the call is one of the session, and was not seen before. Otherwise what is wrong with it. */
  refusal(mark: CallMark, method: string, url: string, body: Uint8Array): string | null {
    const session = this.#sessions.get(mark.sessionId);
    if (session === undefined) return "the session is over: open a new one";
    const { number, timeMs } = mark;
    const made = createHmac("sha256", session.key)
      .update(callSessionMacInput({ method, url, number, timeMs }))
      .update(body)
      .digest();
    const given = Buffer.from(mark.mac, "base64url");
    if (given.byteLength !== made.byteLength || !timingSafeEqual(given, made))
      return "the call is not made with the key of its session";
    if (!(Math.abs(this.#nowMs() - timeMs) <= PROOF_WINDOW_MS))
      return "the call is stale or from the future: make a new one, and set the clock";
    return session.numbers.take(number) ? null : "the number of the call was used before";
  }

  #makeRoom(credentialId: string): void {
    const nowMs = this.#nowMs();
    const own: string[] = [];
    for (const [id, { held, expiresAtMs }] of this.#sessions) {
      if (expiresAtMs <= nowMs) this.#sessions.delete(id);
      else if (held.credentialId === credentialId) own.push(id);
    }
    const [oldest] = own;
    if (oldest !== undefined && own.length >= this.#limits.perCredentialMax) this.#sessions.delete(oldest);
    // WHY the oldest of all: its holder proves itself again, and loses nothing by it.
    const [first] = this.#sessions.keys();
    if (first !== undefined && this.#sessions.size >= this.#limits.max) this.#sessions.delete(first);
  }
}

function sharedSecret(own: ECDH, holderPoint: string): Buffer | undefined {
  const point = Buffer.from(holderPoint, "base64url");
  if (point.byteLength !== POINT_BYTES || point[0] !== 4) return undefined;
  try {
    return own.computeSecret(point);
  } catch {
    return undefined;
  }
}

const NUMBERS_HELD = 4096;

/**
 * Numbers of calls that were seen. Calls may overtake each other, but not by much.
 * INVARIANT: a number that cannot be judged any more counts as used.
 */
export class SpentNumbers {
  readonly #spent = new Uint8Array(NUMBERS_HELD);
  #highest = 0;

  take(number: number): boolean {
    if (!Number.isSafeInteger(number) || number <= this.#highest - NUMBERS_HELD || number < 1) return false;
    if (number > this.#highest) {
      const from = Math.max(this.#highest + 1, number - NUMBERS_HELD + 1);
      for (let skipped = from; skipped <= number; skipped++) this.#spent[skipped % NUMBERS_HELD] = 0;
      this.#highest = number;
    }
    if (this.#spent[number % NUMBERS_HELD] === 1) return false;
    this.#spent[number % NUMBERS_HELD] = 1;
    return true;
  }
}
