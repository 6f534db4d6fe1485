/**
 * What a child knows of the policy: the facts of its own chain and session, held by the private realm, and until when
 * it may rely on them. Trusts the realm and the thread that hands it facts. Runs beside foreign code: only text and
 * numbers are touched, by operators, so that replaced built-ins change nothing.
 * INVARIANT: without a lease no approval counts; what the subject declared goes on.
 */
import { UNAVAILABLE } from "@sallyport/policy/realm";
import { SafeMap, beginsWith } from "../captured.ts";
import type { PrivateRealm } from "../private-realm.ts";
import type { HostedNames } from "../protocol/message.ts";
import type { HostedContexts, MirrorFacts } from "./mirror-facts.ts";

/** Contexts that the realm holds: while the child is live, and once its lease has run out. */
interface Handles {
  live: number;
  fenced: number;
  /** Its mode ends by the clock, or nobody knows. */
  isTimed: boolean;
}

const { parse } = JSON;

export class GateMirror {
  readonly #realm: PrivateRealm;
  readonly #own: Handles = { live: 0, fenced: 0, isTimed: true };
  /** By type and name. */
  readonly #hosted = new SafeMap<string, SafeMap<string, Handles>>();
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
      this.#open(this.#own, facts.live, facts.fenced);
      const { hosted } = facts;
      for (let index = 0; index < hosted.length; index++) {
        const { subject, live, fenced } = hosted[index] as HostedContexts;
        this.#open(this.#handlesOf(subject.type, subject.name), live, fenced);
      }
    }
    if (facts.isLast) this.#isWhole = true;
    return this.#isSound;
  }

  /**
   * A packed verdict; see `unpackVerdict`.
   * @param hosted who of the subjects that the program may run; nothing is known of one inside another
   */
  decide(
    isLive: boolean,
    pair: number,
    target: string,
    ask: number,
    nowMs: number,
    extras: string,
    hosted: HostedNames,
  ): number {
    if (!this.#isSound || !this.#isWhole) return UNAVAILABLE;
    const handles = hosted === undefined ? this.#own : this.#known(hosted);
    if (handles === undefined) return UNAVAILABLE;
    return this.#realm.check(isLive ? handles.live : handles.fenced, pair, target, ask, nowMs, extras);
  }

  /** Whether what is declared, and nothing else, can end with new facts alone, and not by the clock. */
  isUntimed(hosted: HostedNames): boolean {
    const handles = hosted === undefined ? this.#own : this.#known(hosted);
    return handles !== undefined && !handles.isTimed;
  }

  #known(hosted: NonNullable<HostedNames>): Handles | undefined {
    const only = hosted.length === 1 ? hosted[0] : undefined;
    return only === undefined ? undefined : this.#hosted.get(only.type)?.get(only.name);
  }

  #handlesOf(type: string, name: string): Handles {
    let names = this.#hosted.get(type);
    if (names === undefined) {
      names = new SafeMap();
      this.#hosted.set(type, names);
    }
    let handles = names.get(name);
    if (handles === undefined) {
      handles = { live: 0, fenced: 0, isTimed: true };
      names.set(name, handles);
    }
    return handles;
  }

  #open(handles: Handles, live: string, fenced: string): void {
    this.#realm.close(handles.live);
    this.#realm.close(handles.fenced);
    handles.live = this.#realm.open(live);
    handles.fenced = this.#realm.open(fenced);
    handles.isTimed = isTimed(live);
    if (handles.live === 0 || handles.fenced === 0) this.#isSound = false;
  }

  /** JSON text of the last verdict. */
  verdict(): string {
    return this.#realm.verdict();
  }
}

/** WHY: a frame that was made up may pass by the mode, beside one that declares it. */
function isTimed(context: string): boolean {
  try {
    const { mode } = { mode: "bypass", ...(parse(context) as { readonly mode?: unknown }) };
    return typeof mode !== "string" || mode === "bypass";
  } catch {
    return true;
  }
}
