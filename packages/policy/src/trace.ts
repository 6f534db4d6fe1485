/**
 * A record of the steps of one decision, for `explain`. Absent in ordinary checks.
 */
export const TRACE_STEPS = [
  "builtin_denies",
  "setup",
  "deny_rules",
  "plan",
  "ask_rules",
  "allowlist",
  "session_approval",
  "permanent_approval",
  "denial",
  "allow_rules",
] as const;
export type TraceStep = (typeof TRACE_STEPS)[number];

/** `barred`: there is something here, and something else keeps it from counting. */
export type TraceResult = "hit" | "miss" | "barred";

export interface TraceNote {
  readonly frame: number;
  readonly step: TraceStep;
  readonly result: TraceResult;
  readonly ref: string | undefined;
}

export class Trace {
  readonly notes: TraceNote[] = [];

  /**
   * @param ref what the step found; `undefined` where it found nothing
   * @param isBarred what it found does not count here
   */
  note(frame: number, step: TraceStep, ref: string | undefined, isBarred = false): void {
    const result = ref === undefined ? "miss" : isBarred ? "barred" : "hit";
    this.notes.push({ frame, step, result, ref });
  }
}
