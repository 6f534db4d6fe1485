/**
 * Answers of one context that can be given again as long as nothing changes: by pair, by way of asking and by target,
 * never by a joined key. Two generations bound it without the cost of keeping order.
 */
import { RESOURCE_OPERATIONS } from "@sallyport/contract";
import type { Question } from "./question.ts";
import type { Verdict } from "./verdict.ts";

const GENERATION_MAX = 2048;
const ASK_COUNT = 3;

type Answers = Map<string, Verdict>;

const NO_ANSWERS: readonly undefined[] = RESOURCE_OPERATIONS.flatMap(() =>
  Array.from({ length: ASK_COUNT }, () => undefined),
);

export class Memo {
  #young: (Answers | undefined)[] = [];
  #old: (Answers | undefined)[] = [];

  get(pair: number, ask: Question["ask"], target: string): Verdict | undefined {
    const slot = slotOf(pair, ask);
    const young = this.#young[slot];
    if (young === undefined) return undefined;
    const hit = young.get(target);
    return hit !== undefined || this.#old[slot] === undefined ? hit : this.#rescue(slot, target);
  }

  set(pair: number, ask: Question["ask"], target: string, verdict: Verdict): void {
    this.#put(slotOf(pair, ask), target, verdict);
  }

  clear(): void {
    this.#young = NO_ANSWERS.slice();
    this.#old = NO_ANSWERS.slice();
  }

  #rescue(slot: number, target: string): Verdict | undefined {
    const hit = this.#old[slot]?.get(target);
    if (hit !== undefined) this.#put(slot, target, hit);
    return hit;
  }

  #put(slot: number, target: string, verdict: Verdict): void {
    const young = this.#young[slot];
    if (young !== undefined && young.size < GENERATION_MAX) {
      young.set(target, verdict);
      return;
    }
    this.#old[slot] = young;
    this.#young[slot] = new Map([[target, verdict]]);
  }
}

function slotOf(pair: number, ask: Question["ask"]): number {
  return pair * ASK_COUNT + (ask === "default" ? 0 : ask === "explicit" ? 1 : 2);
}
