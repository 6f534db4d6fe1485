/** What a trial answered: the decision, what decided, the rule that matched, every step, and what would change it. */
import { CHECK_CODES } from "@sallyport/contract";
import type { RuleView, Trial, TrialAnswer } from "@sallyport/contract/admin";
import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleHelp, CircleX } from "lucide-react";
import type { ReactNode } from "react";
import { admin } from "../data/late-admin.ts";
import { Hostile, Message, Target } from "../display/hostile.tsx";
import { SubjectName } from "../display/identity.tsx";
import { MATCH_WORDS, OUTCOME_WORDS, SOURCE_WORDS, pairWords } from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import { Sheet, SheetTitle } from "../parts/page.tsx";

export function TrialOutcome({
  trial,
  answer,
}: {
  readonly trial: Trial;
  readonly answer: TrialAnswer;
}): ReactNode {
  const { check, explanation } = answer;
  const { decision } = check;
  const outcome = OUTCOME_WORDS[decision.decision];
  const Icon = check.allowed ? CircleCheck : check.requiresApproval ? CircleHelp : CircleX;
  const verb = pairWords(trial.resource.type, trial.resource.operation)?.verb ?? trial.resource.operation;
  return (
    <div className="flex flex-col gap-4" data-trial={check.code}>
      <Sheet className="p-4">
        <div className="flex items-start gap-3">
          <Icon
            size={22}
            aria-hidden
            className={check.allowed ? "text-good" : check.requiresApproval ? "text-accent" : "text-danger"}
          />
          <div className="min-w-0 flex-1">
            <h2 className="flex flex-wrap items-center gap-2 text-lg font-semibold">
              {outcome.label}
              <Badge tone={outcome.tone}>{check.code}</Badge>
            </h2>
            <p className="text-sm">
              <SubjectName subject={trial.subject} />{" "}
              <span className="text-ink-2">{check.allowed ? "may" : "may not"} </span>
              {verb} <Target type={trial.resource.type} target={trial.resource.target} />
            </p>
            <p className="mt-1 text-sm text-ink-2" data-source>
              Decided by {SOURCE_WORDS[decision.decisionSource]}
              {CHECK_CODES[check.code] === "asked" ? ": a person would be asked" : ""}.
            </p>
            <p className="mt-1 text-sm text-ink-2">
              <Message text={explanation?.because ?? check.message} />
            </p>
          </div>
        </div>
        <Matched refs={decision.ruleRefs} />
      </Sheet>
      {explanation === null ? null : <Explanation explanation={explanation} />}
    </div>
  );
}

/** The rule that matched, in words where it is one of the host's. */
function Matched({ refs }: { readonly refs: readonly string[] }): ReactNode {
  const rules = useQuery({ queryKey: ["rules"], queryFn: () => admin.rules() }).data?.rows ?? [];
  if (refs.length === 0) return null;
  return (
    <ul aria-label="What matched" className="mt-3 flex flex-col gap-1.5 border-t border-line pt-3 text-sm">
      {refs.map((ref) => {
        const view = rules.find(({ rule }) => rule.id === ref);
        return (
          <li key={ref} className="flex flex-wrap items-baseline gap-x-2" data-matched>
            <span className="text-ink-3">matched</span>{" "}
            {view === undefined ? null : <RuleWords rule={view.rule} />} <Hostile mono text={ref} />
          </li>
        );
      })}
    </ul>
  );
}

function RuleWords({ rule }: { readonly rule: RuleView["rule"] }): ReactNode {
  return (
    <span>
      rule of the {rule.source}: {rule.effect} {rule.operation} of{" "}
      <Target type={rule.resourceType} target={rule.target} />
      {rule.match === undefined ? null : ` (${MATCH_WORDS[rule.match]})`}
    </span>
  );
}

function Explanation({
  explanation,
}: {
  readonly explanation: NonNullable<TrialAnswer["explanation"]>;
}): ReactNode {
  const { steps, remedies } = explanation;
  return (
    <>
      {remedies.length === 0 ? null : (
        <Sheet>
          <SheetTitle>What would allow it</SheetTitle>
          <ul className="list-disc px-8 py-3 text-sm" data-remedies>
            {remedies.map((remedy, index) => (
              <li key={index}>
                <Message text={remedy} />
              </li>
            ))}
          </ul>
        </Sheet>
      )}
      <Sheet>
        <SheetTitle>Every step that was looked at</SheetTitle>
        <ol className="list-decimal px-9 py-3 text-sm" data-steps>
          {steps.map((step, index) => (
            <li key={index}>
              <Message text={step} />
            </li>
          ))}
        </ol>
      </Sheet>
    </>
  );
}
