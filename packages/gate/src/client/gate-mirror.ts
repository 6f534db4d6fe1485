/**
 * What a child knows of the policy: the facts of its own chain and session, held by the private realm, and until when
 * it may rely on them. Trusts the realm and the thread that hands it facts. Runs beside foreign code: only text and
 * numbers are touched, by operators, so that replaced built-ins change nothing.
 * INVARIANT: without a lease no approval counts; what the subject declared goes on.
 */
import { UNAVAILABLE } from "@sallyport/policy/realm";
import { beginsWith } from "../captured.ts";
import type { PrivateRealm } from "../private-realm.ts";
import type { MirrorFacts } from "./mirror-facts.ts";

export class GateMirror {
  readonly #realm: PrivateRealm;
  #live = 0;
  #fenced = 0;
  #isSound = true;
  #isWhole = false;

  constructor(realm: PrivateRealm) {
    this.#realm = realm;
  }

  /** The first snapshot is complete and nothing was refused since. */
  get isReady(): boolean {
    return this.#isSound && this.#isWhole;
  }

  /** False where the realm refused something; from then on there is no answer from memory. */
  take(facts: MirrorFacts): boolean {
    const applied = this.#realm.apply(facts.changes);
    if (!beginsWith(applied, `{"applied":${facts.count},`)) this.#isSound = false;
    if (facts.live !== "") {
      this.#realm.close(this.#live);
      this.#realm.close(this.#fenced);
      this.#live = this.#realm.open(facts.live);
      this.#fenced = this.#realm.open(facts.fenced);
      if (this.#live === 0 || this.#fenced === 0) this.#isSound = false;
    }
    if (facts.isLast) this.#isWhole = true;
    return this.#isSound;
  }

  /** A packed verdict; see `unpackVerdict`. */
  decide(isLive: boolean, pair: number, target: string, ask: number, nowMs: number, extras: string): number {
    if (!this.#isSound || !this.#isWhole) return UNAVAILABLE;
    return this.#realm.check(isLive ? this.#live : this.#fenced, pair, target, ask, nowMs, extras);
  }

  /** JSON text of the last verdict. */
  verdict(): string {
    return this.#realm.verdict();
  }
}
