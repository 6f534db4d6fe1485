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
  readonly resourceType: Access["resourceType"];
  readonly operation: Access["operation"];
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
    if (first !== undefined && isAnswerTo(first, access, ask)) return first.verdict;
    return this.#getFurther(first, access, ask);
  }

  #getFurther(first: Answer | undefined, access: Access, ask: Question["ask"]): Verdict | undefined {
    const hit = find(first, access, ask);
    return hit !== undefined || this.#old.size === 0 ? hit : this.#rescue(access.target.text, access, ask);
  }

  set(access: Access, ask: Question["ask"], verdict: Verdict): void {
    const { resourceType, operation, target } = access;
    if (this.#young.size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    const next = this.#young.get(target.text);
    this.#young.set(target.text, { resourceType, operation, ask, verdict, next });
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
  const isSame = answer.operation === access.operation && answer.ask === ask;
  return isSame && answer.resourceType === access.resourceType;
}
