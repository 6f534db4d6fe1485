/**
 * Decides for the gateway by the gate: the service knows by the socket who asks, and waits for a person where the host
 * says that one can be asked. INVARIANT: no answer, or a fault on the way, is a refusal.
 */
import type { ExternalAccessCheck } from "@sallyport/contract";
import type { AskWords, CheckOptions, GateClient } from "@sallyport/gate";
import {
  type NetworkDecider,
  type NetworkQuestion,
  type NetworkRuling,
  REFUSALS,
  type Refusal,
} from "./network-question.ts";

export interface GateNetworkOptions {
  readonly subject: { readonly type: string; readonly name: string };
  /** How long a connection may wait for a person now; `undefined`: it does not wait. */
  readonly waitMs: () => number | undefined;
  /** Calls back with every change of the policy; returns what ends it. */
  readonly watch: (listener: () => void) => () => void;
  /** A person is asked, and the connection waits. */
  readonly onWaiting?: ((question: NetworkQuestion) => void) | undefined;
  /** Something was refused. */
  readonly onBlocked?: ((check: ExternalAccessCheck) => void) | undefined;
}

type Gate = Pick<GateClient, "check" | "foresee" | "passes" | "reportViolation">;

export function gateNetwork(gate: Gate, options: GateNetworkOptions): NetworkDecider {
  const { subject, waitMs, watch, onWaiting, onBlocked } = options;
  const put = async (words: AskWords, more: CheckOptions): Promise<NetworkRuling> => {
    const check = await gate.check(words, more);
    if (!check.allowed && more.registerRequest === true) onBlocked?.(check);
    return rulingOf(check);
  };
  const waiting = (question: NetworkQuestion, words: AskWords): void => {
    const isAsked = waitMs() !== undefined && gate.foresee(words, true).verdict.requiresApproval;
    if (isAsked) onWaiting?.(question);
  };
  const asked = (signal: AbortSignal): CheckOptions => ({ registerRequest: true, waitMs: waitMs(), signal });
  let last: { readonly question: NetworkQuestion; readonly words: AskWords } | undefined;
  /** WHY the last one is remembered: a program asks for the same again and again. */
  const realWordsOf = (question: NetworkQuestion): AskWords => {
    if (last?.question !== question) last = { question, words: { ...wordsOf(question), enforced: true } };
    return last.words;
  };
  return Object.freeze<NetworkDecider>({
    subject: Object.freeze({ ...subject }),
    foresees: (question) => gate.foresee(wordsOf(question), false).verdict.allowed,
    ask: (question, signal) => {
      const words = wordsOf(question);
      waiting(question, words);
      return put(words, asked(signal));
    },
    spend: (question, signal) => put(realWordsOf(question), asked(signal)),
    spendDeclared: (question) => gate.passes(realWordsOf(question)),
    recall: (question) => put(wordsOf(question), { registerRequest: false }),
    violated: (question, refusal) => gate.reportViolation({ ...wordsOf(question), ...faultOf(refusal) }),
    // WHY later: the change is told before it is taken.
    watch: (listener) => watch(() => void setImmediate(listener)),
  });
}

function wordsOf({ operation, target, address, aliases }: NetworkQuestion): AskWords {
  return {
    resourceType: "network",
    operation,
    target,
    ...(address === undefined ? {} : { address }),
    ...(aliases === undefined ? {} : { aliases: [...aliases] }),
  };
}

function faultOf(refusal: Refusal | undefined): Pick<AskWords, "fault"> {
  if (refusal === undefined) return {};
  return { fault: { code: "invalid_target", field: "target", message: REFUSALS[refusal] } };
}

function rulingOf({ allowed, code, message, requestId, decision }: ExternalAccessCheck): NetworkRuling {
  const { expiresAt } = decision;
  return {
    allowed,
    code,
    message,
    decision: decision.decision,
    source: decision.decisionSource,
    requestId,
    expiresAtMs: expiresAt === null ? undefined : Date.parse(expiresAt),
  };
}
