/**
 * What `decide` answers. Frozen; the same question on the same facts gives an equal verdict.
 */
import type { CheckCode, DecisionSource, Outcome } from "@sallyport/contract";

export interface Verdict {
  readonly code: CheckCode;
  readonly outcome: Outcome;
  readonly allowed: boolean;
  readonly requiresApproval: boolean;
  readonly source: DecisionSource;
  /** Index of the frame that decided, and whose subject a request would name; -1 where none did. */
  readonly frame: number;
  /** Ids of the rule, approval, denial, contract or hook that decided; empty where none did. */
  readonly refs: readonly string[];
  /** The approval is limited: it must be confirmed and counted by the service, never answered from memory. */
  readonly limited: boolean;
  /** A pending request is to be registered. */
  readonly registers: boolean;
}
