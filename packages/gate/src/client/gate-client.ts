/**
 * The way of a child to a decision: from memory where a plain allowlist hit may be, from the service for the rest, and
 * never an allow of its own where the service cannot be asked. One client stands on one connection.
 * In a process with foreign code the connection belongs to a worker (`sync-gate-client.ts`); what stays here is the
 * mirror and tables made at import. Not immune: foreign code may write to the descriptor itself and break the
 * connection, and may do without asking; the wall against that is the OS sandbox, not this file.
 */
import {
  type ExternalAccessCheck,
  type PermissionState,
  type WaitAnswer,
  pairIndex,
} from "@sallyport/contract";
import type { CallerFacts } from "@sallyport/contract/remote";
import { ASK, type PlainVerdict, unpackVerdict } from "@sallyport/policy/realm";
import type { AskWords, ChildEvent } from "../protocol/message.ts";
import type { LinkAsk, LinkInquiry } from "./gate-link.ts";
import type { GateTerms } from "./gate-terms.ts";
import type { GateMirror } from "./gate-mirror.ts";
import { extrasText, isDestructive, memoryAnswer } from "./memory-answer.ts";
import { monotonicMs } from "./monotonic.ts";

const { now } = Date;
const { parse, stringify } = JSON;

/** How often a decision may be overtaken by news before it is given up. */
const ROUNDS_MAX = 16;

export interface CheckOptions {
  readonly registerRequest?: boolean | undefined;
  /** How long to wait for a person, where the host says that one can be asked. */
  readonly waitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RequireOptions extends Omit<CheckOptions, "registerRequest"> {
  readonly resumeAction?: string | undefined;
  readonly resumeContext?: unknown;
}

/** On its way; the answer is empty where none comes. */
export interface Sent {
  readonly answer: Promise<string>;
  readonly cancel: () => void;
}

/** What carries questions: a link in this thread, or one in a worker. */
export interface GateTransport {
  readonly terms: GateTerms;
  /** The lease ends then, by the monotonic clock. */
  leaseEndMs(): number;
  /** Takes the facts that have arrived. */
  pull(): void;
  /** Facts have arrived that were not taken yet. */
  hasNews(): boolean;
  ask(ask: LinkAsk): Sent;
  inquire(inquiry: LinkInquiry): Sent;
  report(event: ChildEvent): void;
  close(): void;
}

/** What can be said before the service is asked. */
export interface Foreseen {
  readonly verdict: PlainVerdict;
  readonly pair: number;
  readonly isLive: boolean;
}

export class GateClient {
  readonly #transport: GateTransport;
  readonly #mirror: GateMirror;
  #answers = 0;

  constructor(transport: GateTransport, mirror: GateMirror) {
    this.#transport = transport;
    this.#mirror = mirror;
  }

  /** Approvals can be relied on now. */
  get isLive(): boolean {
    return monotonicMs() < this.#transport.leaseEndMs();
  }

  /** What memory says of it. Spends nothing, registers nothing and records nothing. */
  foresee(words: AskWords, registerRequest?: boolean): Foreseen {
    const pair = pairIndex(words.resourceType, words.operation);
    const ask = registerRequest === undefined ? ASK.default : registerRequest ? ASK.explicit : ASK.passive;
    const extras = extrasText(words);
    for (let round = 0; round < ROUNDS_MAX; round++) {
      this.#transport.pull();
      const { isLive } = this;
      const packed = this.#mirror.decide(isLive, pair, words.target, ask, now(), extras, words.hosted);
      // INVARIANT: looked at last, so that a process that stood still in here relies on nothing that ended meanwhile.
      if (this.isLive === isLive && !this.#transport.hasNews())
        return { verdict: unpackVerdict(packed), pair, isLive };
    }
    return { verdict: unpackVerdict(0), pair, isLive: false };
  }

  /**
   * What memory says, as if the service were heard. Only to take away from what is allowed otherwise. `undefined`: memory
   * holds no rules.
   */
  remembered(words: AskWords): PlainVerdict | undefined {
    if (this.#transport.terms.memory !== "allowlist") return undefined;
    this.#transport.pull();
    const { resourceType, operation, target, hosted } = words;
    const pair = pairIndex(resourceType, operation);
    return unpackVerdict(
      this.#mirror.decide(true, pair, target, ASK.passive, now(), extrasText(words), hosted),
    );
  }

  /**
   * Whether it is declared and goes on without the service, as `check` would say; it is then recorded. False: nothing was
   * recorded, and it has to be checked.
   */
  passes(words: AskWords): boolean {
    const foreseen = this.foresee(words, true);
    const isPassing = foreseen.verdict.allowed && this.#mayAnswer(words, foreseen);
    if (isPassing) this.#transport.report({ kind: "allowed", words });
    return isPassing;
  }

  async check(words: AskWords, options: CheckOptions = {}): Promise<ExternalAccessCheck> {
    const { registerRequest, waitMs, signal } = options;
    const foreseen = this.foresee(words, registerRequest);
    const known = this.fromMemory(words, foreseen);
    if (known !== undefined) return known;
    return this.#asked({ verb: "check", words, registerRequest, waitMs }, foreseen, signal);
  }

  async require(words: AskWords, options: RequireOptions = {}): Promise<ExternalAccessCheck> {
    const { waitMs, signal, resumeAction } = options;
    const foreseen = this.foresee(words, true);
    const known = this.fromMemory(words, foreseen);
    if (known !== undefined) return known;
    const resumeContext = options.resumeContext === undefined ? undefined : stringify(options.resumeContext);
    const ask = { verb: "require", words, waitMs, resumeAction, resumeContext } as const;
    return this.#asked(ask, foreseen, signal);
  }

  /**
   * For what goes on by a declaration and destroys something: the service decides again and writes it down. Asked even where
   * the lease has run out; without a connection memory answers, as for any other declaration.
   */
  async record(words: AskWords): Promise<ExternalAccessCheck> {
    const sent = this.#transport.ask({ verb: "check", words, registerRequest: false });
    const text = await sent.answer;
    const foreseen = { ...this.foresee(words, false), isLive: false };
    if (text === "") return this.fromMemory(words, foreseen) ?? this.unavailable(words, foreseen);
    return this.answerOf(text, words, foreseen);
  }

  /** Who this child is, as the service holds it. `undefined`: the service cannot be asked. */
  async facts(): Promise<CallerFacts | undefined> {
    return told(await this.#transport.inquire({ about: "facts" }).answer) as CallerFacts | undefined;
  }

  /** What this child stands under, with the frames that it made up. */
  async state(
    entered: AskWords["entered"],
    hosted?: AskWords["hosted"],
  ): Promise<PermissionState | undefined> {
    const answer = await this.#transport.inquire({ about: "state", entered, hosted }).answer;
    const value = told(answer) as { readonly state: PermissionState | null } | undefined;
    return value?.state ?? undefined;
  }

  /** How a request of this child was decided. Without an answer of the service it was not. */
  async decided(
    requestId: string,
    waitMs: number,
    signal?: AbortSignal,
    hosted?: AskWords["hosted"],
  ): Promise<WaitAnswer> {
    const sent = this.#transport.inquire({ about: "request", requestId, waitMs, hosted });
    const value = told(await answered(sent, signal)) as WaitAnswer | undefined;
    return value ?? { outcome: "not_found" };
  }

  /** Tells the service of a real operation that something else blocked. */
  reportViolation(words: AskWords): void {
    this.#transport.report({ kind: "violation", words });
  }

  close(): void {
    this.#transport.close();
  }

  /** `undefined`: the service must be asked. */
  protected fromMemory(words: AskWords, foreseen: Foreseen): ExternalAccessCheck | undefined {
    const { verdict, pair, isLive } = foreseen;
    if (!isOfMemory(words)) return isLive ? undefined : this.unavailable(words, foreseen);
    const mayAnswer = this.#mayAnswer(words, foreseen);
    if (!mayAnswer && isLive) return undefined;
    if (!mayAnswer && verdict.allowed) return this.unavailable(words, foreseen);
    if (verdict.allowed) this.#transport.report({ kind: "allowed", words });
    // WHY: a request cannot be made without the service.
    if (verdict.requiresApproval) return this.unavailable(words, foreseen);
    return memoryAnswer(verdict, pair, words, this.#newId());
  }

  /** It is declared, and memory may say so. */
  #mayAnswer(words: AskWords, { verdict, pair, isLive }: Foreseen): boolean {
    return (
      verdict.code === "allowed_sandbox" &&
      !verdict.limited &&
      this.#transport.terms.memory === "allowlist" &&
      isOfMemory(words) &&
      !(isLive && isDestructive(pair, words))
    );
  }

  protected unavailable(words: AskWords, { pair }: Foreseen): ExternalAccessCheck {
    return memoryAnswer(unpackVerdict(0), pair, words, this.#newId());
  }

  /** INVARIANT: no answer is a refusal. */
  protected answerOf(text: string, words: AskWords, foreseen: Foreseen): ExternalAccessCheck {
    return text === "" ? this.unavailable(words, foreseen) : (parse(text) as ExternalAccessCheck);
  }

  async #asked(
    ask: LinkAsk,
    foreseen: Foreseen,
    signal: AbortSignal | undefined,
  ): Promise<ExternalAccessCheck> {
    return this.answerOf(await answered(this.#transport.ask(ask), signal), ask.words, foreseen);
  }

  #newId(): string {
    return `decision-${this.#transport.terms.nonce}-${++this.#answers}`;
  }
}

/**
 * WHY: memory holds the facts of the chain alone and of hosted subjects one by one, not those of frames that guarded code
 * made up; and what is wrong with a question is recorded by the service.
 */
function isOfMemory({ hosted, entered, fault }: AskWords): boolean {
  return (hosted === undefined || hosted.length === 1) && entered === undefined && fault === undefined;
}

/** A caller that stops waiting cancels; the service then answers with what it has. */
async function answered({ answer, cancel }: Sent, signal: AbortSignal | undefined): Promise<string> {
  if (signal?.aborted === true) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await answer;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** WHY not parsed again: the link has read it by its schema. */
function told(text: string): unknown {
  return text === "" ? undefined : parse(text);
}
