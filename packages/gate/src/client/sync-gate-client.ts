/**
 * The gate of a guarded process: a worker owns the connection; this thread decides from memory, asks without waiting,
 * or asks and blocks for a bounded time. One connection, one owner: both ways of asking go through the worker.
 * Must be opened before foreign code. Not immune: foreign code that can end the worker or write to the descriptor
 * takes the lease away with it, and then only the allowlist is left.
 */
import type { MessagePort } from "node:worker_threads";
import type { ExternalAccessCheck } from "@sallyport/contract";
import { ASK, unpackVerdict } from "@sallyport/policy/realm";
import type { AskWords, HostedNames } from "../protocol/message.ts";
import { type CheckOptions, GateClient } from "./gate-client.ts";
import type { GateMirror } from "./gate-mirror.ts";
import type { GateTerms } from "./gate-terms.ts";
import { KnownQuestion } from "./known-question.ts";
import { isHarmless } from "./memory-answer.ts";
import { monotonicMs } from "./monotonic.ts";
import type { Branch } from "./worker-message.ts";
import { BLOCKED_MS, type SyncGateOptions, WorkerTransport } from "./worker-transport.ts";

export type LaterOptions = Pick<CheckOptions, "registerRequest" | "waitMs">;

export interface SyncOptions {
  readonly registerRequest?: boolean | undefined;
  /** How long this thread may be blocked; 5000 unless said. */
  readonly timeoutMs?: number | undefined;
}

/** How long a hit is remembered where a mode may end by the clock. */
const HIT_MS = 5;
/** How often a decision may be overtaken by news before it is left to the service. */
const ROUNDS_MAX = 16;
const { now } = Date;

export class SyncGateClient extends GateClient {
  readonly #owner: WorkerTransport;
  readonly #mirror: GateMirror;
  /** The last hit, and how long it may be taken for the next one. */
  #hitPair = -1;
  #hitTarget = "";
  #hitHosted: HostedNames;
  #hitFacts = -1;
  #hitEndMs = 0;

  private constructor(owner: WorkerTransport) {
    super(owner, owner.mirror);
    this.#owner = owner;
    this.#mirror = owner.mirror;
  }

  /** Blocks until the first snapshot is there; throws a {@link GateFault} where it does not come. */
  static open(options: SyncGateOptions): SyncGateClient {
    return new SyncGateClient(new WorkerTransport(options));
  }

  /**
   * Whether memory alone lets it happen now: declared, harmless, and the service is heard. Makes no value and records
   * nothing; who goes on says so with {@link noteHit}. False decides nothing: ask.
   * INVARIANT: a hit is remembered for whom it was one, as long as no fact has arrived and within its lease; where a
   * mode may end by the clock, for a moment only.
   * @param hosted who acts, where several do in this process
   */
  isHit(pair: number, target: string, hosted?: HostedNames): boolean {
    const isSame = target === this.#hitTarget && pair === this.#hitPair && hosted === this.#hitHosted;
    if (isSame && this.#owner.factsPosted === this.#hitFacts && monotonicMs() < this.#hitEndMs) return true;
    const facts = this.#owner.factsPosted;
    if (!this.#decideHit(pair, target, hosted, "")) return false;
    this.#hitPair = pair;
    this.#hitTarget = target;
    this.#hitHosted = hosted;
    this.#hitFacts = facts;
    this.#hitEndMs = this.#hitEndsMs(hosted);
    return true;
  }

  /** A question that is asked again and again. */
  known(words: AskWords): KnownQuestion {
    return new KnownQuestion(words);
  }

  /** As {@link isHit}, with all words, and it is recorded. Each question remembers its own answer. */
  takeHit(question: KnownQuestion): boolean {
    const { words, pair, extras } = question;
    const facts = this.#owner.factsPosted;
    if (facts !== question.facts || monotonicMs() >= question.endMs) {
      question.endMs = 0;
      if (words.entered !== undefined || words.fault !== undefined) return false;
      if (!this.#decideHit(pair, words.target, words.hosted, extras)) return false;
      question.facts = facts;
      question.endMs = this.#hitEndsMs(words.hosted);
    }
    this.#owner.reportAgain(words);
    return true;
  }

  /** Until when a hit may be taken for the next one, as long as no fact arrives. */
  #hitEndsMs(hosted: HostedNames): number {
    const leaseEndMs = this.#owner.leaseEndMs();
    if (this.#mirror.isUntimed(hosted)) return leaseEndMs;
    const endMs = monotonicMs() + HIT_MS;
    return endMs < leaseEndMs ? endMs : leaseEndMs;
  }

  #decideHit(pair: number, target: string, hosted: HostedNames, extras: string): boolean {
    const { memory, evidence } = this.#owner.terms;
    if (memory !== "allowlist" || evidence || !isHarmless(pair)) return false;
    for (let round = 0; round < ROUNDS_MAX; round++) {
      this.#owner.pull();
      const packed = this.#mirror.decide(true, pair, target, ASK.default, now(), extras, hosted);
      // INVARIANT: looked at last, as in `foresee`.
      if (this.#owner.hasNews()) continue;
      const { code, limited } = unpackVerdict(packed);
      return this.isLive && code === "allowed_sandbox" && !limited;
    }
    return false;
  }

  /** Recorded with others a moment later. */
  noteHit(
    hosted: HostedNames,
    resourceType: string,
    operation: string,
    target: string,
    requested: string,
  ): void {
    this.#owner.reportHit(hosted, resourceType, operation, target, requested);
  }

  /** For the end of the process: what was recorded leaves it, within a bound. */
  drain(): void {
    this.#owner.drain();
  }

  checkSync(words: AskWords, options: SyncOptions = {}): ExternalAccessCheck {
    const { registerRequest, timeoutMs = BLOCKED_MS } = options;
    const foreseen = this.foresee(words, registerRequest);
    const known = this.fromMemory(words, foreseen);
    if (known !== undefined) return known;
    const text = this.#owner.askSync({ verb: "check", words, registerRequest }, timeoutMs);
    return this.answerOf(text, words, foreseen);
  }

  /**
   * As {@link GateClient.check}, with a callback: at once where memory knows the answer.
   * WHY: between a promise and whoever awaits it foreign code can put a `then` of its own.
   */
  checkLater(words: AskWords, options: LaterOptions, answered: (check: ExternalAccessCheck) => void): void {
    const { registerRequest, waitMs } = options;
    const foreseen = this.foresee(words, registerRequest);
    const known = this.fromMemory(words, foreseen);
    if (known !== undefined) {
      answered(known);
      return;
    }
    this.#owner.askLater({ verb: "check", words, registerRequest, waitMs }, (text) =>
      answered(this.answerOf(text, words, foreseen)),
    );
  }

  /** What the service said at the beginning: among it the sensitive imports. */
  get terms(): GateTerms {
    return this.#owner.terms;
  }

  /** A gate for a program that is about to start. `undefined`: there is none, and the program must not start. */
  openBranch(hosted: HostedNames): Branch | undefined {
    return this.#owner.openBranch(hosted);
  }

  /** A gate for a thread that is about to start. `undefined`: there is none, and the thread must not start. */
  openBranchPort(hosted: HostedNames): MessagePort | undefined {
    return this.#owner.openBranchPort(hosted);
  }

  /** Tells the service that a sensitive module was loaded. */
  imported(name: string, evidence: string | undefined): void {
    this.#owner.imported(name, evidence);
  }

  requireSync(words: AskWords, { timeoutMs = BLOCKED_MS }: SyncOptions = {}): ExternalAccessCheck {
    const foreseen = this.foresee(words, true);
    const known = this.fromMemory(words, foreseen);
    if (known !== undefined) return known;
    return this.answerOf(this.#owner.askSync({ verb: "require", words }, timeoutMs), words, foreseen);
  }
}
