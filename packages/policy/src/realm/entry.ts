/**
 * The inside of the private realm: contract and policy behind one function that takes and gives primitives only.
 * `boot` runs once, before foreign code; `tools/build-realm.mjs` bundles this file into a script.
 * Trusts: that `boot` is called by the gate. Must never hand out an object, nor let an exception out.
 */
import type { UrlParser } from "@sallyport/contract";
import { ActiveContext } from "../active-context.ts";
import type { Change } from "../change.ts";
import { decide } from "../decide.ts";
import { explain } from "../explain.ts";
import type { Context, Question } from "../question.ts";
import { Snapshot } from "../snapshot.ts";
import type { Verdict } from "../verdict.ts";
import { AccessCache } from "./access-cache.ts";
import { harden } from "./harden.ts";
import { UNAVAILABLE, packVerdict } from "./packed-verdict.ts";
import { type Border, NO_ANSWER, OP } from "./protocol.ts";
import { readExtras } from "./read-extras.ts";

/** More contexts than this are a leak of the host's, not a need. */
const CONTEXTS_MAX = 65_536;
const ASKS: readonly Question["ask"][] = ["default", "explicit", "passive"];

/** @param hostUrl a function of the surrounding realm, text to text; everything else it gives back counts as refused */
export function boot(hostUrl: (text: string) => unknown, seedLow: number, seedHigh: number): Border {
  const parseUrl: UrlParser = (text) => {
    const href = hostUrl(text);
    return typeof href === "string" ? href : undefined;
  };
  const inside = new Inside(parseUrl, seedLow, seedHigh);
  harden();
  return (op, handle, pair, text, ask, nowMs, extras) => {
    try {
      const isPlain =
        typeof op === "number" &&
        typeof handle === "number" &&
        typeof pair === "number" &&
        typeof text === "string" &&
        typeof ask === "number" &&
        typeof nowMs === "number" &&
        typeof extras === "string";
      if (!isPlain) return op === OP.check ? UNAVAILABLE : NO_ANSWER;
      return inside.answer(op, handle, pair, text, ask, nowMs, extras);
    } catch {
      // INVARIANT: nothing is called here, so a full stack cannot throw a second time and let the error out.
      return op === OP.check ? UNAVAILABLE : NO_ANSWER;
    }
  };
}

class Inside {
  readonly #snapshot: Snapshot;
  readonly #accesses: AccessCache;
  readonly #parseUrl: UrlParser;
  readonly #contexts = new Map<number, ActiveContext>();
  #lastHandle = 0;
  #lastVerdict: Verdict | undefined;

  constructor(parseUrl: UrlParser, seedLow: number, seedHigh: number) {
    this.#parseUrl = parseUrl;
    this.#snapshot = new Snapshot({ seed: [seedLow, seedHigh], parseUrl });
    this.#accesses = new AccessCache(parseUrl);
  }

  answer(
    op: number,
    handle: number,
    pair: number,
    text: string,
    ask: number,
    nowMs: number,
    extras: string,
  ): number | string {
    switch (op) {
      case OP.check: {
        this.#lastVerdict = undefined;
        const active = this.#contexts.get(handle);
        if (active === undefined) return UNAVAILABLE;
        const verdict = decide(active, this.#question(pair, text, ask, nowMs, extras));
        this.#lastVerdict = verdict;
        return packVerdict(verdict);
      }
      case OP.verdict:
        return this.#lastVerdict === undefined ? "" : JSON.stringify(this.#lastVerdict);
      case OP.explain: {
        const active = this.#contexts.get(handle);
        if (active === undefined) return "";
        return JSON.stringify(explain(active, this.#question(pair, text, ask, nowMs, extras)));
      }
      case OP.open:
        return this.#open(text);
      case OP.close:
        return this.#contexts.delete(handle) ? 1 : 0;
      case OP.apply:
        return this.#apply(text);
      case OP.revision:
        return this.#snapshot.revision;
      default:
        return NO_ANSWER;
    }
  }

  #question(pair: number, text: string, ask: number, nowMs: number, extras: string): Question {
    const kind = ASKS[ask];
    if (kind === undefined) throw new TypeError("unknown kind of ask");
    const access = this.#accesses.get(pair, text);
    if (extras === "") return { access, ask: kind, nowMs };
    return { ...readExtras(extras, this.#parseUrl), access, ask: kind, nowMs };
  }

  #open(text: string): number {
    if (this.#contexts.size >= CONTEXTS_MAX) return 0;
    const context = JSON.parse(text) as Context;
    // INVARIANT: handles are never given twice, so a closed one cannot stand for another subject.
    const handle = ++this.#lastHandle;
    this.#contexts.set(handle, new ActiveContext(this.#snapshot, context));
    return handle;
  }

  /** Applies changes in order up to the first that has a fault. */
  #apply(text: string): string {
    const changes = JSON.parse(text) as readonly Change[];
    let applied = 0;
    for (const change of changes) {
      const result = this.#snapshot.apply(change);
      const { revision } = this.#snapshot;
      if (!result.ok) return JSON.stringify({ applied, revision, fault: result });
      applied++;
    }
    return JSON.stringify({ applied, revision: this.#snapshot.revision });
  }
}
