/**
 * Answers of one context that can be given again as long as nothing changes: by pair, by way of asking and by target,
 * never by a joined key. Two generations bound it without the cost of keeping order.
 */
import { RESOURCE_OPERATIONS } from "@sallyport/contract";
import type { Question } from "./question.ts";
import type { Verdict } from "./verdict.ts";

const GENERATION_MAX = 2048;
const ASK_KINDS: Readonly<Record<Question["ask"], number>> = { default: 0, explicit: 1, passive: 2 };

class Generations {
  #young = new Map<string, Verdict>();
  #old: Map<string, Verdict> | undefined;

  get(target: string): Verdict | undefined {
    const hit = this.#young.get(target);
    if (hit !== undefined || this.#old === undefined) return hit;
    const older = this.#old.get(target);
    if (older !== undefined) this.set(target, older);
    return older;
  }

  set(target: string, verdict: Verdict): void {
    if (this.#young.size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(target, verdict);
  }
}

export class Memo {
  #slots: (Generations | undefined)[] = [];

  get(pair: number, ask: Question["ask"], target: string): Verdict | undefined {
    return this.#slots[pair * 3 + ASK_KINDS[ask]]?.get(target);
  }

  set(pair: number, ask: Question["ask"], target: string, verdict: Verdict): void {
    const slot = pair * 3 + ASK_KINDS[ask];
    (this.#slots[slot] ??= new Generations()).set(target, verdict);
  }

  clear(): void {
    this.#slots = Array.from({ length: RESOURCE_OPERATIONS.length * 3 }, () => undefined);
  }
}
