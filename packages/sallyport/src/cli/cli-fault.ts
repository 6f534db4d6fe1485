/** A command that cannot go on: how it ends, what was wrong, and what to do next. Printed by the one place that prints. */
import type { ErrorCode } from "@sallyport/contract";
import { type ExitName, exitOf } from "./exit-code.ts";

export interface FaultWords {
  readonly exit: ExitName;
  /** The code of the service, where it said no. */
  readonly code?: ErrorCode | undefined;
  /** What is wrong; lower-case, no full stop. */
  readonly message: string;
  /** What to do; a command where there is one. */
  readonly next?: string | undefined;
}

export class CliFault extends Error {
  override readonly name = "CliFault";
  readonly words: FaultWords;

  constructor(words: FaultWords) {
    super(words.message);
    this.words = words;
  }
}

/** What the service refused, with the next step that belongs to its code. */
export function refusedBy(code: ErrorCode, message: string): CliFault {
  return new CliFault({ exit: exitOf(code), code, message, next: NEXT_STEPS[code] });
}

const NEXT_STEPS: Partial<Readonly<Record<ErrorCode, string>>> = {
  already_decided: "`sallyport requests --all` shows who decided",
  digest_mismatch: "look at it again: `sallyport requests` shows it as it is now",
  session_key_required: "approve it permanently with `--permanent`, or deny it",
  not_found: "`sallyport requests`, `sallyport grants` and `sallyport rules` show what there is",
  permission_error: "sign in as a person with the role `super`, outside any organization",
  unavailable: "`sallyport doctor` says what is wrong here",
  sandbox_unavailable: "`sallyport doctor` says how to get it; `--no-sandbox` runs without the wall",
  sandbox_profile: "change the rule, or choose another `--trap`",
  sandbox_failed: "`sallyport doctor` says what is wrong here",
};
