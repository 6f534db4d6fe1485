/**
 * What a mirror takes of one message of facts: text and numbers, so that it can be posted between threads.
 */
import type { FactsMessage } from "../protocol/message.ts";

/** One message of facts; the context is `""` where it stays. */
export interface MirrorFacts {
  readonly changes: string;
  readonly count: number;
  readonly live: string;
  readonly fenced: string;
  readonly isLast: boolean;
}

export function mirrorFacts(message: FactsMessage): MirrorFacts {
  const { changes, count, context, isLast } = message;
  return { changes, count, isLast, live: context?.live ?? "", fenced: context?.fenced ?? "" };
}
