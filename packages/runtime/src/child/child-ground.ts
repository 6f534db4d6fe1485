/**
 * What the SDK of a child stands on, however the child reaches its gate. A child asks; it decides nothing, and enters no
 * frame but those that are bounded.
 */
import { type ContextFacts, type ContextKeeper, contextFacts } from "@sallyport/context";
import { BLANK_CALLER, type CallerContext, PermissionError } from "@sallyport/contract";
import type { CallerFacts } from "@sallyport/contract/remote";
import type { SdkGround } from "../sdk/sdk-ground.ts";

/**
 * The child as it may know itself; for its own facts alone.
 * INVARIANT: who a child is, is not its own to say: of this nothing is ever sent.
 */
export function callerOf({ chain, taskId, interactive, mode, sandboxProfile }: CallerFacts): CallerContext {
  const frames = chain.map(({ subject, phase, entry }) => ({ subject, phase, entry, contracts: [] }));
  return Object.freeze({ ...BLANK_CALLER, taskId, interactive, mode, sandboxProfile, frames });
}

export interface ChildParts extends Pick<SdkGround, "policy" | "isGuarded" | "targets" | "caller"> {
  /** Makes contexts to read facts from. */
  readonly keeper: Pick<ContextKeeper, "root">;
  readonly hasSession: boolean;
  /** Runs `fn` as a subject that guarded code makes up. */
  readonly enter: SdkGround["enterMadeUp"];
}

export function childGround(parts: ChildParts): SdkGround {
  const { policy, isGuarded, targets, caller, keeper, hasSession, enter } = parts;
  return Object.freeze<SdkGround>({
    policy,
    isGuarded,
    targets,
    caller,
    facts: () => {
      const facts = contextFacts(keeper.root(caller()));
      return facts === undefined ? undefined : Object.freeze<ContextFacts>({ ...facts, hasSession });
    },
    profile: () => caller().sandboxProfile,
    decide: async (verb) => {
      throw new PermissionError(verb === "deny" ? "deny external access" : "approve external access");
    },
    enterMadeUp: (subject, fn) => {
      if (subject.type === "core")
        throw new TypeError("`core:core` is the host: guarded code cannot enter it");
      return enter(subject, fn);
    },
    registerAction: () => {
      throw new TypeError("an action is registered where the service is: do it in the host's process");
    },
  });
}
