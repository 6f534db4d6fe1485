/** A request as a sentence: who, called by whom, wants to do what to what. */
import type { RequestView } from "@sallyport/contract/admin";
import type { ReactNode } from "react";
import { Target } from "../display/hostile.tsx";
import { SubjectName } from "../display/identity.tsx";
import { pairWords } from "../display/words.ts";

export function Sentence({ request }: { readonly request: RequestView }): ReactNode {
  const { subject, resource, subjectChain } = request;
  const callers = subjectChain.slice(0, -1).toReversed();
  const verb = pairWords(resource.type, resource.operation)?.verb ?? resource.operation;
  return (
    <>
      <SubjectName subject={subject} />
      {callers.map((frame, index) => (
        <span key={index} className="text-ink-2">
          {index === 0 ? ", called by " : " in "}
          <SubjectName subject={frame.subject} />
        </span>
      ))}
      <span className="text-ink-2">{callers.length > 0 ? "," : ""} wants to </span>
      <span className={`font-semibold ${request.destructive ? "text-danger" : "text-ink"}`}>{verb}</span>{" "}
      <Target type={resource.type} target={resource.target} />
    </>
  );
}
