/** Saying no: do not ask again, or a deny rule, which beats declarations too. The reason reaches the caller. */
import type { RequestView } from "@sallyport/contract/admin";
import { type ReactNode, useRef, useState } from "react";
import { DecisionDialog } from "./decision-dialog.tsx";
import { Sentence } from "./sentence.tsx";

const TEMPLATES = [
  "not needed for this task",
  "use the declared location instead",
  "ask the owner of the data first",
] as const;

export function DenyDialog({
  request,
  kind,
  onClose,
  onDeny,
}: {
  readonly request: RequestView;
  readonly kind: "deny" | "block";
  readonly onClose: () => void;
  readonly onDeny: (reason: string) => void;
}): ReactNode {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const isBlock = kind === "block";
  return (
    <DecisionDialog
      title={isBlock ? "Block by a rule" : "Deny"}
      first={field}
      reason={{
        label: "Reason (the caller is told)",
        value: reason,
        onValue: setReason,
        field,
        answersOnEnter: true,
      }}
      answer={{ label: isBlock ? "Block" : "Deny", look: "danger" }}
      onAnswer={() => onDeny(reason.trim())}
      onClose={onClose}
    >
      <p className="text-sm">
        <Sentence request={request} />
      </p>
      <p className="mt-2 text-sm text-ink-2">
        {isBlock
          ? "Writes a deny rule for this subject and target. It beats declarations and approvals, and stays until it is removed under Rules."
          : "Records a denial: it holds in every session, and the subject is not asked about again. Approvals of the same are removed."}
      </p>
      <div className="mt-3 flex flex-wrap gap-1.5" role="group" aria-label="Reasons that are often given">
        {TEMPLATES.map((template) => (
          <button
            key={template}
            type="button"
            className="rounded-full border border-line px-2.5 py-0.5 text-xs text-ink-2 hover:bg-sunken"
            onClick={() => {
              setReason(template);
              field.current?.focus();
            }}
          >
            {template}
          </button>
        ))}
      </div>
    </DecisionDialog>
  );
}
