/**
 * What `decide` answers. Frozen; the same question on the same facts gives an equal verdict.
 */
import { CHECK_CODES, type CheckCode, type DecisionSource, type Outcome } from "@sallyport/contract";

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

export interface VerdictFacts {
  readonly frame: number;
  readonly refs?: readonly string[];
  readonly limited?: boolean;
  readonly registers?: boolean;
  readonly outcome?: Outcome;
}

const NO_REFS: readonly string[] = Object.freeze([]);

export function makeVerdict(code: CheckCode, source: DecisionSource, facts: VerdictFacts): Verdict {
  const outcome = facts.outcome ?? CHECK_CODES[code];
  return Object.freeze({
    code,
    outcome,
    allowed: outcome === "allowed" || outcome === "sandboxed",
    requiresApproval: code === "approval_required",
    source,
    frame: facts.frame,
    refs: facts.refs === undefined ? NO_REFS : Object.freeze([...facts.refs]),
    limited: facts.limited ?? false,
    registers: facts.registers ?? false,
  });
}
