/** The difference an approval would make: what the subject has already, and what would be new. */
import type { RequestDetail } from "@sallyport/contract/admin";
import { GitCompare } from "lucide-react";
import type { ReactNode } from "react";
import { Target } from "../display/hostile.tsx";
import { MATCH_WORDS, pairLabel, plural } from "../display/words.ts";

const SHOWN_MAX = 4;

export function GrantedAlready({ detail }: { readonly detail: RequestDetail }): ReactNode {
  const { granted, request } = detail;
  const { type, operation, target } = request.resource;
  return (
    <section className="rounded-lg border border-line bg-canvas px-3.5 py-2.5 text-sm">
      <h2 className="mb-1 flex items-center gap-1.5 font-semibold">
        <GitCompare size={16} aria-hidden className="text-accent" />
        What would change
      </h2>
      <ul className="flex flex-col gap-0.5" data-difference>
        {granted.slice(0, SHOWN_MAX).map(({ id, resource, match, scope }) => (
          <li key={id} className="flex items-baseline text-ink-2">
            <span className="w-16 shrink-0 text-xs text-ink-3">granted</span>{" "}
            <span className="min-w-0">
              {pairLabel(resource.type, resource.operation)}{" "}
              <Target type={resource.type} target={resource.target} />{" "}
              <span className="text-xs text-ink-3">
                {MATCH_WORDS[match]}, {scope}
              </span>
            </span>
          </li>
        ))}
        {granted.length > SHOWN_MAX ? (
          <li className="text-xs text-ink-3">and {plural(granted.length - SHOWN_MAX, "more grant")}</li>
        ) : null}
        {granted.length === 0 ? (
          <li className="text-ink-2">Nothing has been granted to this subject yet.</li>
        ) : null}
        {request.status === "pending" ? (
          <li className="flex items-baseline font-medium text-ink">
            <span className="w-16 shrink-0 text-xs text-accent">new</span>{" "}
            <span className="min-w-0">
              {pairLabel(type, operation)} <Target type={type} target={target} />
            </span>
          </li>
        ) : null}
      </ul>
    </section>
  );
}
