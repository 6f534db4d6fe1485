/** One line of the inbox, and the line above several that belong together. */
import type { RequestView } from "@sallyport/contract/admin";
import { type ReactNode, memo } from "react";
import { Age } from "../display/clock.tsx";
import { Hostile, Target, hostileText, targetCautions } from "../display/hostile.tsx";
import { PairBadge, SubjectName } from "../display/identity.tsx";
import { STATUS_WORDS, plural } from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import type { RequestGroup } from "./group-requests.ts";

export interface RowActions {
  readonly onOpen: (id: string) => void;
  readonly onTick: (ids: readonly string[], ticked: boolean) => void;
}

export const RequestRow = memo(function RequestRow({
  request,
  isOpen,
  isTicked,
  actions,
}: {
  readonly request: RequestView;
  readonly isOpen: boolean;
  readonly isTicked: boolean;
  readonly actions: RowActions;
}): ReactNode {
  const { id, subject, resource, status, count, origin, resume, lastSeen } = request;
  const caller = request.subjectChain.at(-2)?.subject;
  return (
    <div
      className={`flex h-full items-start gap-2.5 border-b border-line px-3 py-2.5 ${isOpen ? "bg-accent-soft" : "hover:bg-canvas"}`}
      data-request={id}
      data-open={isOpen || undefined}
    >
      <input
        type="checkbox"
        checked={isTicked}
        disabled={status !== "pending"}
        aria-label={`Tick ${resource.operation} ${hostileText(resource.target)} of ${hostileText(subject.name)}`}
        onChange={(event) => actions.onTick([id], event.target.checked)}
        className="mt-1 size-4 shrink-0 accent-accent-fill"
      />
      <button
        type="button"
        aria-pressed={isOpen}
        onClick={() => actions.onOpen(id)}
        className="min-w-0 flex-1 text-left"
      >
        <span className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate text-sm">
            <SubjectName subject={subject} />
            {caller === undefined ? null : (
              <span className="text-ink-3">
                {" "}
                called by <Hostile text={caller.name} fold="line" />
              </span>
            )}
          </span>
          <span className="shrink-0 text-xs text-ink-3">
            <Age at={lastSeen} />
          </span>
        </span>
        <span className="mt-0.5 block truncate text-sm">
          <Target type={resource.type} target={resource.target} fold="line" />
        </span>
        <span className="mt-1 flex items-center gap-1.5 overflow-hidden">
          <PairBadge type={resource.type} operation={resource.operation} destructive={request.destructive} />
          {status === "pending" ? null : (
            <Badge tone={STATUS_WORDS[status].tone}>{STATUS_WORDS[status].label}</Badge>
          )}
          {targetCautions(resource.type, resource.target).length > 0 ? (
            <Badge tone="warn">look-alike</Badge>
          ) : null}
          {count > 1 ? <Badge>{plural(count, "time")}</Badge> : null}
          {resume === null ? null : <Badge>resumable</Badge>}
          {origin.sessionKey === null || origin.sessionKey === undefined ? <Badge>no session</Badge> : null}
        </span>
      </button>
    </div>
  );
});

export function GroupRow({
  group,
  ticked,
  actions,
}: {
  readonly group: RequestGroup;
  readonly ticked: ReadonlySet<string>;
  readonly actions: RowActions;
}): ReactNode {
  const { subject, type, operation, place, requests } = group;
  const ids = requests.map(({ id }) => id);
  const isAll = ids.every((id) => ticked.has(id));
  return (
    <div className="flex h-full items-center gap-2.5 border-b border-line bg-sunken px-3 text-xs text-ink-2">
      <input
        type="checkbox"
        checked={isAll}
        aria-label={`Tick all ${ids.length}: ${operation} in ${hostileText(place)} by ${hostileText(subject.name)}`}
        onChange={(event) => actions.onTick(ids, event.target.checked)}
        className="size-4 shrink-0 accent-accent-fill"
      />
      <span className="min-w-0 flex-1 truncate">
        <span className="font-semibold text-ink">{ids.length}</span> × {operation} in{" "}
        <Target type={type} target={place} fold="line" /> by <Hostile text={subject.name} fold="line" />
      </span>
    </div>
  );
}
