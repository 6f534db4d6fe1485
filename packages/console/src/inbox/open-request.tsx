/** One request, opened: its card, its answers and their dialogs. */
import type { AdminDecisionKind } from "@sallyport/client/admin";
import type { RequestDetail, RequestView } from "@sallyport/contract/admin";
import type { RemoteDecision } from "@sallyport/contract/remote";
import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { type ReactNode, type Ref, useImperativeHandle, useRef, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { decide } from "../data/decide.tsx";
import { useSession } from "../data/session.ts";
import { Button } from "../parts/button.tsx";
import { Failed, Loading } from "../parts/states.tsx";
import { DecisionBar, type DialogName, hasSession } from "./decision-bar.tsx";
import { ApproveDialog, DenyDialog, LatePart } from "./late-parts.tsx";
import { RequestCard } from "./request-card.tsx";

/** What keys can do with the opened request. */
export interface OpenRequestHandle {
  approve(): void;
  dialog(name: DialogName): void;
}

type Words = RemoteDecision["words"];

export function OpenRequest({
  id,
  onLeave,
  onNext,
  ref,
}: {
  readonly id: string;
  readonly onLeave: () => void;
  readonly onNext: () => void;
  readonly ref: Ref<OpenRequestHandle>;
}): ReactNode {
  const query = useQuery({ queryKey: ["request", id], queryFn: () => admin.request(id), staleTime: 0 });
  const mayDecide = useSession().data?.mayDecide ?? false;
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const detail = query.data;
  const request = detail?.request;
  const changed = useChanged(request?.digest);
  const canDecide = mayDecide && request?.status === "pending";

  const answer = (shown: RequestView, kind: AdminDecisionKind, words: Words): void => {
    setDialog(null);
    onNext();
    decide(shown, kind, words).catch(() => undefined);
  };

  useImperativeHandle(ref, () => ({
    // INVARIANT: no key alone approves what can destroy, nor what would hold beyond a session.
    approve: () => {
      if (!canDecide || request === undefined) return;
      if (request.destructive || !hasSession(request)) setDialog("approve");
      else answer(request, "approve_for_session", {});
    },
    dialog: (name) => {
      if (canDecide) setDialog(name);
    },
  }));

  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="border-b border-line bg-surface px-2 py-1.5 md:hidden">
        <Button look="quiet" onClick={onLeave}>
          <ArrowLeft size={15} aria-hidden />
          Inbox
        </Button>
        <h1 className="sr-only">Request</h1>
      </div>
      {query.isPending ? <Loading label="Loading the request" /> : null}
      {query.error === null ? null : (
        <Failed
          error={query.error}
          onRetry={() => {
            query.refetch().catch(() => undefined);
          }}
        />
      )}
      {detail === undefined || request === undefined ? null : (
        <>
          <div
            className="min-h-0 flex-1 overflow-y-auto px-4 py-5 sm:px-6"
            tabIndex={0}
            role="group"
            aria-label="Details"
          >
            <div className="mx-auto max-w-3xl">
              {changed ? (
                <p role="status" className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
                  This request changed while it was open: look again before you decide.
                </p>
              ) : null}
              <RequestCard detail={detail} />
            </div>
          </div>
          <DecisionBar
            request={request}
            mayDecide={mayDecide}
            onOnce={() =>
              answer(request, hasSession(request) ? "approve_for_session" : "approve_permanently", {
                maxUses: 1,
              })
            }
            onSession={() => answer(request, "approve_for_session", {})}
            onDialog={setDialog}
          />
          <Dialogs detail={detail} name={dialog} onClose={() => setDialog(null)} onAnswer={answer} />
        </>
      )}
    </div>
  );
}

/** Whether what is shown is no longer what was opened. */
function useChanged(digest: string | undefined): boolean {
  const first = useRef<string>(undefined);
  first.current ??= digest;
  return digest !== undefined && digest !== first.current;
}

function Dialogs({
  detail,
  name,
  onClose,
  onAnswer,
}: {
  readonly detail: RequestDetail;
  readonly name: DialogName | null;
  readonly onClose: () => void;
  readonly onAnswer: (request: RequestView, kind: AdminDecisionKind, words: Words) => void;
}): ReactNode {
  const { request } = detail;
  switch (name) {
    case null:
      return null;
    case "approve":
    case "permanent":
      return (
        <LatePart>
          <ApproveDialog
            detail={detail}
            scope={name === "permanent" ? "permanent" : "session"}
            onClose={onClose}
            onApprove={(kind, words) => onAnswer(request, kind, words)}
          />
        </LatePart>
      );
    case "deny":
    case "block":
      return (
        <LatePart>
          <DenyDialog
            request={request}
            kind={name}
            onClose={onClose}
            onDeny={(reason) => onAnswer(request, name, reason === "" ? {} : { reason })}
          />
        </LatePart>
      );
  }
}
