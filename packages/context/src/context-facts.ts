/**
 * What guarded code may read of itself. A frozen copy: it is no key to anything, and nothing is read from it again.
 * Must never hold what belongs to the host: user, organization, session key, contracts, roles, credential.
 */
import type { CallerContext, FrameEntry, PermissionMode, Phase, SubjectType } from "@sallyport/contract";
import { bare, freeze, put } from "./captured.ts";
import { type RuntimeContext, readContext } from "./runtime-context.ts";

export interface FrameFacts {
  readonly subject: { readonly type: SubjectType; readonly name: string };
  readonly phase: Phase;
  readonly entry: FrameEntry;
}

export interface ContextFacts {
  /** From the outermost in; the last one is active. */
  readonly subjectChain: readonly FrameFacts[];
  /** Of the active frame; `null` without one. */
  readonly phase: Phase | null;
  readonly hasSession: boolean;
  /** A person can be asked now. */
  readonly interactive: boolean;
  /** `null`: the mode that was set for the service. */
  readonly mode: PermissionMode | null;
  readonly taskId: string | null;
}

/** `undefined` for whatever no keeper made. */
export function contextFacts(context: RuntimeContext | undefined): ContextFacts | undefined {
  const caller = readContext(context);
  return caller === undefined ? undefined : factsOf(caller);
}

function factsOf(caller: CallerContext): ContextFacts {
  const { frames, sessionKey } = caller;
  const subjectChain: FrameFacts[] = [];
  let phase: Phase | null = null;
  for (let index = 0; index < frames.length; index++) {
    const frame = frames[index] as CallerContext["frames"][number];
    const { type, name } = frame.subject;
    const facts = { subject: freeze(bare({ type, name })), phase: frame.phase, entry: frame.entry };
    put(subjectChain, index, freeze(bare(facts)));
    phase = frame.phase;
  }
  return freeze(
    bare({
      subjectChain: freeze(subjectChain),
      phase,
      hasSession: sessionKey !== null && sessionKey !== "",
      interactive: caller.interactive,
      mode: caller.mode,
      taskId: caller.taskId,
    }),
  );
}
