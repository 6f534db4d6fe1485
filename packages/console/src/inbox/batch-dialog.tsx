/** Several requests, each with its own answer, in one transaction: all of them, or where one is in the way none. */
import type { AdminDecisionKind } from "@sallyport/client/admin";
import { BATCH_MAX, type BatchAnswer, type RequestView } from "@sallyport/contract/admin";
import { type ReactNode, useState } from "react";
import { byRequest, decideBatch, refusalText } from "../data/decide.tsx";
import { plural } from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import { hasSession } from "./decision-bar.tsx";
import { DecisionDialog } from "./decision-dialog.tsx";
import { Sentence } from "./sentence.tsx";

export type Choice = AdminDecisionKind | "once" | "leave";

const LABELS: Readonly<Record<Choice, string>> = {
  once: "Allow once",
  approve_for_session: "Allow for session",
  approve_permanently: "Allow permanently",
  deny: "Deny",
  block: "Block",
  leave: "Leave out",
};

/** The same answer for all, where it is possible for each. */
const choiceFor = (request: RequestView, wish: Choice): Choice =>
  wish === "approve_for_session" && !hasSession(request) ? "leave" : wish;

export function BatchDialog({
  requests,
  wish,
  onClose,
  onDone,
}: {
  readonly requests: readonly RequestView[];
  readonly wish: Choice;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): ReactNode {
  // INVARIANT: what was shown when it opened is what is sent; the list behind it goes on changing.
  const [shown] = useState(() => requests.slice(0, BATCH_MAX));
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(
    () => new Map(shown.map((request) => [request.id, choiceFor(request, wish)])),
  );
  const [reason, setReason] = useState("");
  const [refusals, setRefusals] = useState<ReadonlyMap<string, Refused> | null>(null);
  const [busy, setBusy] = useState(false);
  const chosen = shown.filter(({ id }) => choices.get(id) !== "leave");
  const destructive = chosen.filter(
    (request) => request.destructive && !["deny", "block"].includes(choices.get(request.id) ?? "leave"),
  ).length;

  const submit = async (): Promise<void> => {
    setBusy(true);
    const items = chosen.map((request) => itemOf(request, choices.get(request.id) ?? "leave", reason));
    const heard = await decideBatch(items);
    setBusy(false);
    if (heard?.committed === true) onDone();
    else setRefusals(heard === null ? null : refusalsOf(chosen, heard));
  };

  return (
    <DecisionDialog
      wide
      title={`Decide ${plural(chosen.length, "request")} together`}
      reason={{ label: "Reason for all (optional)", value: reason, onValue: setReason }}
      note={destructive > 0 ? `${plural(destructive, "approval")} can destroy something` : undefined}
      answer={{
        label: `Decide ${plural(chosen.length, "request")}`,
        look: "primary",
        disabled: busy || chosen.length === 0,
      }}
      onAnswer={() => {
        submit().catch(() => setBusy(false));
      }}
      onClose={onClose}
    >
      {refusals === null ? null : (
        <p
          role="alert"
          className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn"
          data-batch-refused
        >
          Nothing was decided, because of the lines that are marked. Leave them out, or close and look again.
        </p>
      )}
      <ul aria-label="Requests to decide" className="divide-y divide-line rounded-md border border-line">
        {shown.map((request) => (
          <BatchLine
            key={request.id}
            request={request}
            choice={choices.get(request.id) ?? "leave"}
            fault={refusals?.get(request.id)}
            onChoice={(choice) => setChoices(new Map(choices).set(request.id, choice))}
          />
        ))}
      </ul>
      {requests.length > shown.length ? (
        <p className="mt-2 text-xs text-ink-2">
          The first {shown.length} of {requests.length}: one transaction holds no more.
        </p>
      ) : null}
    </DecisionDialog>
  );
}

function BatchLine({
  request,
  choice,
  fault,
  onChoice,
}: {
  readonly request: RequestView;
  readonly choice: Choice;
  readonly fault: Refused | undefined;
  readonly onChoice: (choice: Choice) => void;
}): ReactNode {
  const kinds = (Object.keys(LABELS) as Choice[]).filter(
    (kind) => kind !== "approve_for_session" || hasSession(request),
  );
  return (
    <li
      className={`flex flex-wrap items-start gap-3 px-3 py-2 text-sm ${fault === undefined ? "" : "bg-warn-soft"}`}
    >
      <div className="min-w-0 flex-1 basis-64">
        <Sentence request={request} /> {request.destructive ? <Badge tone="danger">can destroy</Badge> : null}
        {fault === undefined ? null : <p className="text-xs text-warn">{refusalText(fault)}</p>}
      </div>
      <label>
        <span className="sr-only">Answer</span>
        <select
          value={choice}
          onChange={(event) => onChoice(event.target.value as Choice)}
          className="min-h-8 rounded-md border border-line-strong bg-surface px-2 py-1 text-sm"
        >
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {LABELS[kind]}
            </option>
          ))}
        </select>
      </label>
    </li>
  );
}

type Refused = Extract<BatchAnswer["answers"][number], { readonly ok: false }>;

/** Which of those that were sent was in the way. */
function refusalsOf(sent: readonly RequestView[], { answers }: BatchAnswer): ReadonlyMap<string, Refused> {
  return new Map(
    answers.flatMap((answer, index) => {
      const request = sent[index];
      return answer.ok || request === undefined ? [] : [[request.id, answer] as const];
    }),
  );
}

function itemOf(request: RequestView, choice: Choice, reason: string) {
  const words = reason.trim() === "" ? {} : { reason: reason.trim() };
  const by = byRequest(request);
  if (choice === "once")
    return {
      kind: hasSession(request) ? ("approve_for_session" as const) : ("approve_permanently" as const),
      by,
      words: { ...words, maxUses: 1 },
    };
  if (choice === "leave") throw new Error("a request that is left out has no answer");
  return { kind: choice, by, words };
}
