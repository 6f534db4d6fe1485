/**
 * `require`: the check plus what shall go on after an approval. Blocked is a value here too.
 * INVARIANT: a subject names only actions that its own module registered or that were opened to it, and a context
 * without an action is refused before anything is registered.
 */
import { type ExternalAccessCheck, type RequireAsk, fault } from "@sallyport/contract";
import { type Ask, type CallerContext, sessionOf, standingFrames } from "./caller-context.ts";
import type { Checker } from "./check.ts";
import type { NodeParts } from "./node-parts.ts";
import { contextText } from "./seal/json-context.ts";

export type { RequireAsk } from "@sallyport/contract";

export async function requireAccess(
  parts: NodeParts,
  checker: Checker,
  caller: CallerContext,
  ask: RequireAsk,
): Promise<ExternalAccessCheck> {
  const { resumeAction, resumeContext, ...rest } = ask;
  const explicit: Ask = { ...rest, registerRequest: true };
  const problem = faultOf(parts, caller, ask);
  if (problem !== undefined) {
    return checker.check(caller, {
      ...explicit,
      requested: ask.requested ?? requestedForm(ask),
      access: fault("invalid_operation", "resume", problem),
    });
  }
  if (resumeAction === undefined) return checker.check(caller, explicit);
  return checker.check(caller, explicit, { action: resumeAction, context: resumeContext });
}

function faultOf({ actions }: NodeParts, caller: CallerContext, ask: RequireAsk): string | undefined {
  const { access, resumeAction, resumeContext } = ask;
  // WHY: what is refused anyway is refused for its own reason.
  if ("code" in access) return undefined;
  if (resumeAction === undefined) {
    return resumeContext === undefined
      ? undefined
      : "a resume context needs a resume action: name the action, or leave the context out";
  }
  const session = sessionOf(caller);
  if (!standingFrames(caller.frames).every(({ subject }) => actions.mayName(subject, resumeAction, session)))
    return "the resume action is not one of the subject's own module and was not opened to it: register it there";
  if (resumeContext === undefined) return undefined;
  const text = contextText(resumeContext);
  return text.ok ? undefined : text.message;
}

function requestedForm({ access }: RequireAsk) {
  return "code" in access
    ? { type: "", operation: "", target: "" }
    : { type: access.resourceType, operation: access.operation, target: access.target.requested };
}
