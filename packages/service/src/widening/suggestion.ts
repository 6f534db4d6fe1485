/** What can be offered to an approver in place of the exact target: the shape, before and after it was verified. */
import type { Match } from "@sallyport/contract";

/** A width that a generator thinks covers the request; nothing is believed before the policy engine said so. */
export interface Candidate {
  /** Normalized target of the approval. */
  readonly target: string;
  readonly match: Match;
  /** In plain words; beside it the target is shown. */
  readonly label: string;
  /** Reaches far beyond the request: a whole host, a home, a folder of the system. */
  readonly wide: boolean;
  /** Targets that might be covered, and that might not; sorted by the policy engine. */
  readonly examples: readonly string[];
}

export interface Suggestion extends Omit<Candidate, "examples"> {
  /** Examples of what it would cover, the request itself first. */
  readonly covers: readonly string[];
  /** Near misses that it would not cover. */
  readonly not: readonly string[];
}

/** Text with nothing in it that could deceive a reader: control, bidi and invisible characters are written out. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  );
}
