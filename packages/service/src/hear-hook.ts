/**
 * Asks the host's hook. It may answer, or put another access in the place of the one that was asked for, which is then
 * asked from the start: the hook hears of it again, and every rule, approval and denial is held against it.
 * Trusts the hook as host code for what it makes. Must never let an allow for one access stand for another: a caller
 * that cannot do something else than it asked for is refused.
 */
import type { HookAnswer } from "@sallyport/policy";
import { type Ask, type CallerContext, isAccess } from "./caller-context.ts";
import type { DecisionHook, HookRewrite } from "./node-parts.ts";

export interface HeardHook {
  readonly hook: HookAnswer | undefined;
  /** What is to be checked. */
  readonly ask: Ask;
  readonly updatedInputRef: string | null;
}

/** How often one ask may be rewritten. */
const REWRITES_MAX = 2;

export async function heardHook(
  hook: DecisionHook | undefined,
  caller: CallerContext,
  asked: Ask,
): Promise<HeardHook> {
  let ask = asked;
  let updatedInputRef: string | null = null;
  for (let rewrites = 0; ; rewrites++) {
    const answer = hook === undefined ? undefined : await answerOf(hook, caller, ask);
    if (answer?.answer !== "rewrite") return { hook: answer, ask, updatedInputRef };
    if (asked.takeRewritten === undefined || rewrites === REWRITES_MAX)
      return { hook: { answer: "deny", ref: answer.ref }, ask: asked, updatedInputRef: null };
    ask = rewritten(ask, answer);
    updatedInputRef = answer.ref;
    asked.takeRewritten(Object.freeze({ access: answer.access, ref: answer.ref }));
  }
}

/** A hook that fails asks: it can neither allow nor hide by failing. */
async function answerOf(
  hook: DecisionHook,
  caller: CallerContext,
  ask: Ask,
): Promise<HookAnswer | HookRewrite | undefined> {
  try {
    return await hook(caller, ask);
  } catch {
    return { answer: "ask", ref: "hook-failed" };
  }
}

/** INVARIANT: what was known of the old target (its address, its other name) is not carried over to the new one. */
function rewritten(ask: Ask, { access, address, aliases, twin, exists }: HookRewrite): Ask {
  const requested = ask.requested ?? (isAccess(ask.access) ? wordsOf(ask.access) : undefined);
  return { ...ask, access, requested, address, aliases, twin, exists };
}

function wordsOf({ resourceType, operation, target }: HookRewrite["access"]) {
  return { type: resourceType, operation, target: target.requested };
}
