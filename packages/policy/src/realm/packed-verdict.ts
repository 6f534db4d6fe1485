/**
 * A verdict as one number, so that it can leave the private realm without an object.
 * INVARIANT: 0 is not a verdict, and whatever is not a verdict unpacks to `unavailable`.
 */
import {
  CHECK_CODES,
  type CheckCode,
  DECISION_SOURCES,
  type DecisionSource,
  OUTCOMES,
  type Outcome,
} from "@sallyport/contract";
import type { Verdict } from "../verdict.ts";

const CODES = Object.freeze(Object.keys(CHECK_CODES)) as readonly CheckCode[];

const CODE_BITS = 5;
const CODE_MASK = 2 ** CODE_BITS - 1;
const OUTCOME_SHIFT = CODE_BITS;
const SOURCE_SHIFT = OUTCOME_SHIFT + 3;
const FLAG_SHIFT = SOURCE_SHIFT + 5;
const FRAME_SHIFT = FLAG_SHIFT + 2;
const FRAME_MAX = 2 ** 13 - 2;
const LIMITED = 1 << FLAG_SHIFT;
const REGISTERS = 2 << FLAG_SHIFT;

/** A verdict without its references. */
export type PlainVerdict = Omit<Verdict, "refs">;

export function packVerdict(verdict: PlainVerdict): number {
  const code = CODES.indexOf(verdict.code) + 1;
  const outcome = OUTCOMES.indexOf(verdict.outcome) + 1;
  const source = DECISION_SOURCES.indexOf(verdict.source) + 1;
  const { frame } = verdict;
  if (code === 0 || outcome === 0 || source === 0 || frame < -1 || frame > FRAME_MAX) return UNAVAILABLE;
  const flags = (verdict.limited ? LIMITED : 0) | (verdict.registers ? REGISTERS : 0);
  return code | (outcome << OUTCOME_SHIFT) | (source << SOURCE_SHIFT) | flags | ((frame + 1) << FRAME_SHIFT);
}

/** The answer where something went wrong. */
export const UNAVAILABLE: number =
  (CODES.indexOf("unavailable") + 1) |
  ((OUTCOMES.indexOf("unavailable") + 1) << OUTCOME_SHIFT) |
  ((DECISION_SOURCES.indexOf("fault") + 1) << SOURCE_SHIFT);

const ALLOWED = OUTCOMES.indexOf("allowed") + 1;
const SANDBOXED = OUTCOMES.indexOf("sandboxed") + 1;

/** Whether a packed verdict lets the access happen. Uses operators only: safe beside replaced built-ins. */
export function isAllowed(packed: number): boolean {
  const outcome = (packed >> OUTCOME_SHIFT) & 7;
  return (packed & CODE_MASK) !== 0 && (outcome === ALLOWED || outcome === SANDBOXED);
}

/** Safe beside replaced built-ins: operators, and reads of elements that are there. */
export function unpackVerdict(packed: number): PlainVerdict {
  const code = at(CODES, (packed & CODE_MASK) - 1);
  const outcome = at(OUTCOMES, ((packed >> OUTCOME_SHIFT) & 7) - 1);
  const source = at(DECISION_SOURCES, ((packed >> SOURCE_SHIFT) & 31) - 1);
  if (code === undefined || outcome === undefined || source === undefined) return unpackVerdict(UNAVAILABLE);
  return {
    code,
    outcome,
    allowed: outcome === "allowed" || outcome === "sandboxed",
    requiresApproval: code === "approval_required",
    source,
    frame: (packed >> FRAME_SHIFT) - 1,
    limited: (packed & LIMITED) !== 0,
    registers: (packed & REGISTERS) !== 0,
  };
}

function at<T extends CheckCode | Outcome | DecisionSource>(
  list: readonly T[],
  index: number,
): T | undefined {
  // WHY: an index outside the list would be looked up on prototypes that foreign code can change.
  return index >= 0 && index < list.length ? list[index] : undefined;
}
