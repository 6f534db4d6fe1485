/**
 * What the mode makes of an access that nothing has decided. `plan` has refused before this, and is `default` here.
 */
import type { StandingFrame } from "./active-context.ts";
import type { Judgement } from "./judgement.ts";
import type { HookAnswer, HostRule } from "./question.ts";
import { type Verdict, makeVerdict } from "./verdict.ts";

/** What demands a person's answer. */
type Asker = HostRule | HookAnswer;

export function askerRef(asker: Asker): string {
  return "id" in asker ? asker.id : asker.ref;
}

/** @param askedBy what demands a person's answer (an ask rule, a hook); no mode allows against it */
export function endByMode(
  frame: StandingFrame,
  { active, question }: Judgement,
  askedBy: Asker | undefined,
): Verdict {
  const { mode, modeExpiresAtMs, confined } = active.context;
  switch (mode) {
    case "default":
    case "untrusted":
    case "plan":
      return ask(frame, askedBy);
    case "never":
      return frame.bare("denied_mode", "mode");
    case "on_request":
      return question.ask === "explicit" ? ask(frame, askedBy) : frame.bare("denied_mode", "mode");
    case "on_failure":
      if (askedBy !== undefined) return ask(frame, askedBy);
      if (!confined) return frame.bare("denied_mode", "mode");
      return makeVerdict("allowed_mode", "mode", { frame: frame.index, outcome: "sandboxed" });
    case "bypass": {
      const holds = modeExpiresAtMs !== null && question.nowMs < modeExpiresAtMs;
      return holds && askedBy === undefined ? frame.bare("allowed_mode", "mode") : ask(frame, askedBy);
    }
    case "auto":
      return askedBy === undefined ? classified(frame, question.classifier) : ask(frame, askedBy);
  }
}

function classified(frame: StandingFrame, classifier: Judgement["question"]["classifier"]): Verdict {
  if (classifier === undefined || classifier.answer === "ask") return ask(frame, undefined);
  const code = classifier.answer === "allow" ? "allowed_mode" : "denied_mode";
  return makeVerdict(code, "classifier", { frame: frame.index, refs: [classifier.ref] });
}

function ask(frame: StandingFrame, askedBy: Asker | undefined): Verdict {
  if (askedBy === undefined) return frame.bare("approval_required", "mode");
  return makeVerdict("approval_required", "host_rule", {
    frame: frame.index,
    refs: [askerRef(askedBy)],
    registers: true,
  });
}
