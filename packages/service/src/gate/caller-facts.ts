/**
 * What a child may know of the caller that it was bound to. Must never hold what belongs to the host: user, organization,
 * session key, contracts, roles, credential.
 */
import type { CallerFacts } from "@sallyport/contract/remote";
import type { CallerContext } from "../caller-context.ts";

export function callerFacts(caller: CallerContext): CallerFacts {
  const { frames, sessionKey, taskId, interactive, mode, sandboxProfile } = caller;
  return Object.freeze<CallerFacts>({
    chain: frames.map(({ subject, phase, entry }) => ({ subject, phase, entry })),
    hasSession: sessionKey !== null && sessionKey !== "",
    taskId: taskId as CallerFacts["taskId"],
    interactive,
    mode,
    sandboxProfile,
  });
}
