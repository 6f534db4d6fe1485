/**
 * Answers of one context that can be given again as long as nothing changes: by target, then by resource type, operation
 * and way of asking, each compared by itself. Two generations bound it without the cost of keeping order.
 */
import type { Access } from "@sallyport/contract";
import type { Question } from "./question.ts";
import type { Verdict } from "./verdict.ts";

const GENERATION_MAX = 8192;

/** The answers for one target: at most one for each pair and way of asking. */
interface Answer {
  readonly access: Access;
  readonly ask: Question["ask"];
  readonly verdict: Verdict;
  readonly next: Answer | undefined;
}

export class Memo {
  #young = new Map<string, Answer>();
  #old = new Map<string, Answer>();

  get(access: Access, ask: Question["ask"]): Verdict | undefined {
    const { text } = access.target;
    const first = this.#young.get(text);
    // WHY: whoever asks often keeps its accesses, as the realm does; then two comparisons are enough.
    if (first !== undefined && first.access === access && first.ask === ask) return first.verdict;
    return this.#getFurther(first, access, ask);
  }

  #getFurther(first: Answer | undefined, access: Access, ask: Question["ask"]): Verdict | undefined {
    const hit = find(first, access, ask);
    return hit !== undefined || this.#old.size === 0 ? hit : this.#rescue(access.target.text, access, ask);
  }

  set(access: Access, ask: Question["ask"], verdict: Verdict): void {
    const { text } = access.target;
    if (this.#young.size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, { access, ask, verdict, next: this.#young.get(text) });
  }

  clear(): void {
    if (this.#young.size > 0) this.#young = new Map();
    if (this.#old.size > 0) this.#old = new Map();
  }

  #rescue(text: string, access: Access, ask: Question["ask"]): Verdict | undefined {
    const hit = find(this.#old.get(text), access, ask);
    if (hit !== undefined) this.set(access, ask, hit);
    return hit;
  }
}

function find(first: Answer | undefined, access: Access, ask: Question["ask"]): Verdict | undefined {
  for (let answer = first; answer !== undefined; answer = answer.next) {
    if (isAnswerTo(answer, access, ask)) return answer.verdict;
  }
  return undefined;
}

function isAnswerTo(answer: Answer, access: Access, ask: Question["ask"]): boolean {
  const { resourceType, operation } = answer.access;
  return answer.ask === ask && operation === access.operation && resourceType === access.resourceType;
}
