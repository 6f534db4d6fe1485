/** The guided example of the host: what to decide, and what came of it. For whoever is here for the first time. */
import type { GuideView } from "@sallyport/contract/admin";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed, CircleX, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { admin } from "../data/late-admin.ts";
import { Message } from "../display/hostile.tsx";
import { buttonClass } from "../parts/button.tsx";

type Step = GuideView["steps"][number];

/** What is resumed is done a moment after it was approved, and no event says when. */
const LOOK_AGAIN_MS = 1000;

const MARKS: Readonly<
  Record<Step["state"], { readonly icon: LucideIcon; readonly tone: string; readonly label: string }>
> = {
  waiting: { icon: CircleDashed, tone: "text-accent", label: "Waits for you" },
  went_on: { icon: CircleCheck, tone: "text-good", label: "Went on" },
  refused: { icon: CircleX, tone: "text-danger", label: "Was told no" },
};

const isOver = ({ steps }: GuideView): boolean => steps.every(({ state }) => state !== "waiting");

export function Guide(): ReactNode {
  const { data: guide } = useQuery({
    queryKey: ["guide"],
    queryFn: () => admin.guide(),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data !== undefined && isOver(state.data) ? false : LOOK_AGAIN_MS),
  });
  if (guide === undefined) return null;
  return (
    <section aria-label="Guided example" className="mx-auto max-w-xl p-4 md:px-6 md:py-10" data-guide>
      <h2 className="text-lg font-semibold tracking-tight">A guided example</h2>
      <p className="mt-1 text-sm text-ink-2">
        An agent on this machine is blocked {guide.steps.length} times, each time on something that it did not
        declare. Decide, and it goes on.
      </p>
      <ol className="mt-4 flex flex-col gap-2">
        {guide.steps.map((step, index) => (
          <GuideStep key={index} step={step} />
        ))}
      </ol>
      <p className="mt-4 text-sm text-ink-2">
        {isOver(guide) ? "That is the whole loop. " : null}
        Every decision is a line of the{" "}
        <Link to="/audit" search={{ type: "permission.resolved" }} className="text-accent underline">
          audit log
        </Link>
        ; what was approved is among the{" "}
        <Link to="/grants" className="text-accent underline">
          grants
        </Link>
        .
      </p>
    </section>
  );
}

function GuideStep({ step }: { readonly step: Step }): ReactNode {
  const { icon: Icon, tone, label } = MARKS[step.state];
  return (
    <li
      className="flex items-start gap-3 rounded-lg border border-line bg-surface px-3.5 py-3 text-sm"
      data-guide-step={step.state}
    >
      <Icon size={18} role="img" aria-label={label} className={`mt-0.5 shrink-0 ${tone}`} />
      <div className="min-w-0 flex-1">
        <p>
          <Message text={step.title} />
        </p>
        {step.told === null ? null : (
          <p className={`mt-0.5 ${tone}`}>
            <Message text={step.told} />
          </p>
        )}
      </div>
      {step.state === "waiting" && step.requestId !== null ? (
        <Link to="/" search={{ id: step.requestId }} className={buttonClass("plain")}>
          Look
        </Link>
      ) : null}
    </li>
  );
}
