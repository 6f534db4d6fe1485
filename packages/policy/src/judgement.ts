/**
 * One decision under way.
 */
import type { Access } from "@sallyport/contract";
import type { ActiveContext } from "./active-context.ts";
import type { Aims } from "./aim.ts";
import type { Question } from "./question.ts";
import type { Trace } from "./trace.ts";
import type { Verdict } from "./verdict.ts";

export interface Judgement {
  readonly active: ActiveContext;
  readonly question: Question;
  readonly access: Access;
  readonly aims: Aims;
  readonly trace: Trace | undefined;
  /** Set where the answer depends on the clock, so that it is not given again. */
  timed: boolean;
  verdict: Verdict;
}
