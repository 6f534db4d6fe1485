/** One recorded fact, in a line; opened, the event as it was hashed. */
import type { EventView } from "@sallyport/contract/admin";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Instant } from "../display/clock.tsx";
import { Hostile, Target } from "../display/hostile.tsx";
import { Id, SubjectName } from "../display/identity.tsx";
import { OUTCOME_WORDS, SOURCE_WORDS } from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import { Fact } from "../parts/row-list.tsx";
import { actionWords } from "./action-words.ts";

const TYPE_WORDS: Readonly<Record<string, string>> = {
  "permission.evaluated": "checked",
  "permission.requested": "asked for",
  "permission.resolved": "resolved",
  "sandbox.applied": "sandbox applied",
  "sandbox.violation": "blocked",
  "policy.changed": "by a person",
  "policy.refused": "refused",
};

export function EventRow({ event }: { readonly event: EventView }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="px-4 py-2" data-event={event.type}>
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 text-sm">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`Event ${event.seq}`}
          onClick={() => setOpen(!isOpen)}
          className="self-center rounded text-ink-3 hover:text-ink"
        >
          <ChevronRight
            size={15}
            aria-hidden
            className={`transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
        </button>
        <span className="w-40 shrink-0 text-xs text-ink-3">
          <Instant at={event.time} />
        </span>
        <span className="w-28 shrink-0">
          {event.decision === null ? (
            <Badge>{kindOf(event)}</Badge>
          ) : (
            <Badge tone={OUTCOME_WORDS[event.decision].tone}>{OUTCOME_WORDS[event.decision].label}</Badge>
          )}
        </span>
        <span className="min-w-0 flex-1 basis-72">
          <What event={event} />
        </span>
      </div>
      {isOpen ? <Opened event={event} /> : null}
    </li>
  );
}

function kindOf({ type, userId }: EventView): string {
  if (type === "policy.changed" && userId === null) return "by the host";
  return (Object.hasOwn(TYPE_WORDS, type) ? TYPE_WORDS[type] : undefined) ?? "event";
}

/** Who acted comes first where somebody did; then what it was about. */
function What({ event }: { readonly event: EventView }): ReactNode {
  const { subjectType, subjectName, operation, resourceType, target } = event;
  const isAct = event.type.startsWith("policy.");
  const words = isAct && event.code !== null ? actionWords(event.code) : undefined;
  const code = words === undefined ? event.code : null;
  return (
    <>
      {isAct || subjectType === null ? (
        <span className="text-ink-2">
          {event.userId === null ? (
            "the host"
          ) : (
            <>
              user <Id value={event.userId} />
            </>
          )}
          {words === undefined ? null : <span>: {words}</span>}
        </span>
      ) : null}{" "}
      {subjectType === null || subjectName === null ? null : (
        <SubjectName subject={{ type: subjectType, name: subjectName }} />
      )}{" "}
      {operation === null ? null : <span className="text-ink-2">{operation} </span>}
      {target === null || resourceType === null ? null : <Target type={resourceType} target={target} />}{" "}
      {code === null ? null : (
        <span className="text-xs text-ink-3">
          <Hostile mono text={code} />
        </span>
      )}
    </>
  );
}

function Opened({ event }: { readonly event: EventView }): ReactNode {
  return (
    <div className="mt-2 ml-7 flex flex-col gap-2">
      <div className="flex flex-wrap gap-x-4 gap-y-1 text-xs">
        <Fact name="event">{event.type}</Fact>
        {event.decisionSource === null ? null : (
          <Fact name="decided by">{SOURCE_WORDS[event.decisionSource]}</Fact>
        )}
        <Fact name="user">
          <Id value={event.userId} />
        </Fact>
        <Fact name="organization">
          <Id value={event.organizationId} />
        </Fact>
        <Fact name="session">
          <Id value={event.sessionKey} />
        </Fact>
        <Fact name="task">
          <Id value={event.taskId} />
        </Fact>
        <Fact name="row">
          {event.seq} of <Hostile text={event.node} />
        </Fact>
        <Fact name="hash">
          <Hostile mono text={event.hash} fold="line" />
        </Fact>
      </div>
      <div className="rounded-md bg-sunken p-2.5 text-xs">
        <Hostile mono text={event.body} fold="off" />
      </div>
    </div>
  );
}
