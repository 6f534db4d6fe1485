/** Callers for tests, with every field given. */
import {
  BLANK_CALLER,
  type CallerContext,
  type CallerFrame,
  type SubjectName,
  type SubjectType,
} from "@sallyport/contract";
import { contextFacts } from "../context-facts.ts";
import type { ContextKeeper } from "../context-keeper.ts";

export function sampleFrame(type: SubjectType, name: string, more: Partial<CallerFrame> = {}): CallerFrame {
  return {
    subject: { type, name: name as SubjectName },
    phase: "runtime",
    entry: "host",
    contracts: [`contract-${name}`],
    ...more,
  };
}

export function sampleCaller(name: string, more: Partial<CallerContext> = {}): CallerContext {
  return {
    ...BLANK_CALLER,
    frames: [sampleFrame("tool", name)],
    user: { id: 7, roles: ["member"], accessLevel: null },
    organizationId: 0,
    sessionKey: "s-1",
    taskId: "t-1",
    ...more,
  };
}

/** The name of the active subject, as the keeper sees it now. */
export function activeName(keeper: ContextKeeper): string | undefined {
  return contextFacts(keeper.current())?.subjectChain.at(-1)?.subject.name;
}
