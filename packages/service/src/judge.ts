/**
 * One judgement of an ask on the node's view of the store, with everything that is needed to say and record it.
 * Asks the host's hook and classifier, which are one decision source and never an override.
 */
import type { CheckCode, ExternalAccessCheck, Outcome, Subject } from "@sallyport/contract";
import { ActiveContext, type Context, type Question, type Verdict, decide } from "@sallyport/policy";
import { type UnchainedEvent, actionFacts, checkedEvent } from "./access-events.ts";
import { type Ask, type CallerContext, policyContext } from "./caller-context.ts";
import { answerOf } from "./check-answer.ts";
import { FROZEN_STEP, freezeNow, underFreeze } from "./freeze.ts";
import { heardHook } from "./hear-hook.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";
import type { ActionFacts } from "./shared-facts.ts";

export interface Judged {
  readonly caller: CallerContext;
  /** As it came. */
  readonly asked: Ask;
  /** As it was checked: what a hook rewrote stands in it. */
  readonly ask: Ask;
  readonly updatedInputRef: string | null;
  readonly verdict: Verdict;
  readonly context: Context;
  /** The one that a request would name; `null` where nobody acts. */
  readonly subject: Subject | null;
  /** The view of the store that it was made on. */
  readonly revision: number;
  readonly answer: (requestId: string | null, nextStep?: string | null) => ExternalAccessCheck;
}

interface Said {
  readonly requestId: string | null;
  readonly nextStep: string | null;
  readonly check: ExternalAccessCheck;
}

export class Judge {
  readonly #parts: NodeParts;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  async judge(caller: CallerContext, asked: Ask, isRequired: boolean): Promise<Judged> {
    const { live, clock } = this.#parts;
    await live.fresh();
    const { hook, ...input } = await heardHook(this.#parts.hook, caller, asked);
    const { ask } = input;
    const { mode } = policyContext(caller, nodeState(this.#parts));
    const classifier = mode === "auto" ? await this.#classified(caller, ask) : undefined;
    // INVARIANT: nothing is awaited from here on, so that the context, the snapshot and its revision are of one moment.
    const context = policyContext(caller, nodeState(this.#parts));
    const question: Question = {
      access: ask.access,
      address: ask.address,
      aliases: ask.aliases,
      twin: ask.twin,
      named: ask.named,
      ask: isRequired ? "explicit" : askOf(ask),
      hook,
      classifier,
      nowMs: clock.nowMs(),
    };
    const decided = decide(new ActiveContext(live.snapshot, context), question);
    const verdict = underFreeze(freezeNow(this.#parts), context, decided);
    return this.#judged(
      caller,
      { asked, ...input },
      context,
      verdict,
      verdict === decided ? null : FROZEN_STEP,
    );
  }

  /** The same ask with another answer than the engine's: limits, timeouts, faults. */
  instead(judged: Judged, code: CheckCode, outcome: Outcome, source: Verdict["source"]): Judged {
    const { caller, context, verdict } = judged;
    return this.#judged(caller, judged, context, madeVerdict(code, outcome, source, verdict.frame));
  }

  /** Whatever went wrong. */
  unavailable(caller: CallerContext, ask: Ask): Judged {
    const context = policyContext(caller, nodeState(this.#parts));
    const frame = context.frames.length - 1;
    const verdict = madeVerdict("unavailable", "unavailable", "fault", frame);
    return this.#judged(caller, { asked: ask, ask, updatedInputRef: null }, context, verdict);
  }

  event(judged: Judged, check: ExternalAccessCheck, count = 1): UnchainedEvent {
    const { caller, ask, subject } = judged;
    const facts = { caller, ask, subject, check, ...this.facts(judged) };
    return checkedEvent(this.#parts.audit.stamp(), facts, count);
  }

  facts({ caller, context }: Judged): ActionFacts {
    return actionFacts(caller, context, this.#parts.live.facts);
  }

  #judged(
    caller: CallerContext,
    { asked, ask, updatedInputRef }: Pick<Judged, "asked" | "ask" | "updatedInputRef">,
    context: Context,
    verdict: Verdict,
    step: string | null = null,
  ): Judged {
    const { live, newId, maskingKey } = this.#parts;
    const subject = subjectOf(context, ask, verdict);
    const decided = verdict.refs.map((ref) => live.facts.decision(ref)).find((fact) => fact !== undefined);
    const decisionId = newId("decision");
    const common = { verdict, subject, access: ask.access, exists: ask.exists === true, decided };
    let last: Said | null = null;
    return {
      caller,
      asked,
      ask,
      updatedInputRef,
      verdict,
      context,
      subject,
      revision: live.revision,
      // WHY kept: one check says the same to the row, the events and the caller. The answer is frozen.
      answer: (requestId, nextStep = step) => {
        if (last === null || last.requestId !== requestId || last.nextStep !== nextStep) {
          const check = answerOf({ ...common, requestId, nextStep, decisionId, updatedInputRef, maskingKey });
          last = { requestId, nextStep, check };
        }
        return last.check;
      },
    };
  }

  async #classified(caller: CallerContext, ask: Ask): Promise<Question["classifier"]> {
    try {
      return await this.#parts.classifier?.(caller, ask);
    } catch {
      return undefined;
    }
  }
}

function askOf({ registerRequest: asks }: Ask): Question["ask"] {
  if (asks === undefined) return "default";
  return asks ? "explicit" : "passive";
}

function subjectOf({ frames }: Context, { named }: Ask, verdict: Verdict): Subject | null {
  if (verdict.frame === frames.length) return named ?? null;
  return (frames[verdict.frame] ?? frames.at(-1))?.subject ?? null;
}

function madeVerdict(code: CheckCode, outcome: Outcome, source: Verdict["source"], frame: number): Verdict {
  return Object.freeze({
    code,
    outcome,
    allowed: false,
    requiresApproval: false,
    source,
    frame,
    refs: [],
    limited: false,
    registers: false,
  });
}
