/**
 * What a mirror takes of one message of facts: text and numbers, so that it can be posted between threads.
 */
import type { FactsMessage } from "../protocol/message.ts";

export interface HostedContexts {
  readonly subject: { readonly type: string; readonly name: string };
  readonly live: string;
  readonly fenced: string;
}

/** One message of facts; the context is `""` where it stays. */
export interface MirrorFacts {
  readonly changes: string;
  readonly count: number;
  readonly live: string;
  readonly fenced: string;
  /** Those of the subjects that the program may run; as before where the context stays. */
  readonly hosted: readonly HostedContexts[];
  readonly isLast: boolean;
}

export function mirrorFacts(message: FactsMessage): MirrorFacts {
  const { changes, count, context, isLast } = message;
  const { live = "", fenced = "", hosted = [] } = context ?? {};
  return { changes, count, isLast, live, fenced, hosted };
}
