/**
 * What is open now, and by which answers. When something changes each is asked about again, and what is no longer
 * allowed is cut off at once.
 */
import type { NetworkDecider, NetworkQuestion, NetworkRuling } from "./network-question.ts";

/** By what it is open. */
export interface Grounds {
  readonly questions: readonly NetworkQuestion[];
  readonly expiresAtMs: number | undefined;
  /** By what the subject declared alone, which no use uses up. */
  readonly isDeclared: boolean;
}

interface Live {
  readonly questions: readonly NetworkQuestion[];
  readonly cut: () => void;
  timer?: NodeJS.Timeout | undefined;
  /** The approval was for one use and is used up: that it is gone now takes nothing away. */
  isUsedUp: boolean;
}

/** WHY at all: that a lease has run out is told by nobody. */
const RECHECK_MS = 2000;
const TIMER_MS_MAX = 2_147_483_647;

export class LiveConnections {
  readonly #decider: NetworkDecider;
  readonly #live = new Set<Live>();

  readonly #clock = setInterval(() => void this.recheck(), RECHECK_MS).unref();

  constructor(decider: NetworkDecider) {
    this.#decider = decider;
  }

  get size(): number {
    return this.#live.size;
  }

  /** Returns what to call when it is over. */
  add({ questions, expiresAtMs, isDeclared }: Grounds, cut: () => void): () => void {
    const live: Live = { questions, cut, isUsedUp: false };
    this.#live.add(live);
    if (expiresAtMs !== undefined) {
      const leftMs = Math.min(Math.max(expiresAtMs - Date.now(), 0), TIMER_MS_MAX);
      live.timer = setTimeout(() => this.#cut(live), leftMs).unref();
    }
    const isKnown = isDeclared || questions.every((question) => this.#decider.foresees(question));
    if (!isKnown) void this.#noteUse(live);
    return () => this.#forget(live);
  }

  /** Something has changed. */
  async recheck(): Promise<void> {
    await Promise.all([...this.#live].map((live) => this.#recheck(live)));
  }

  close(): void {
    clearInterval(this.#clock);
    for (const live of this.#live) this.#cut(live);
  }

  async #noteUse(live: Live): Promise<void> {
    const rulings = await this.#recall(live);
    live.isUsedUp = rulings.some(({ code }) => code === "approval_required");
  }

  async #recheck(live: Live): Promise<void> {
    if (live.questions.every((question) => this.#decider.foresees(question))) return;
    const rulings = await this.#recall(live);
    // INVARIANT: no answer is no permission.
    const holds = rulings.every(
      ({ allowed, code }) => allowed || (live.isUsedUp && code === "approval_required"),
    );
    if (!holds || rulings.length < live.questions.length) this.#cut(live);
  }

  async #recall({ questions }: Live): Promise<readonly NetworkRuling[]> {
    try {
      return await Promise.all(questions.map((question) => this.#decider.recall(question)));
    } catch {
      return [];
    }
  }

  #cut(live: Live): void {
    if (!this.#live.has(live)) return;
    this.#forget(live);
    live.cut();
  }

  #forget(live: Live): void {
    clearTimeout(live.timer);
    this.#live.delete(live);
  }
}
