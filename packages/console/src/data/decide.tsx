/**
 * A person's decision on its way: gone from the list at once, back again where the server says no, and undone where the
 * person asks in time. What was shown is what is sent: the digest of the card, never a newer one.
 */
import type { Decided, Decision, Refusal } from "@sallyport/contract";
import type { AdminDecisionKind } from "@sallyport/client/admin";
import type { BatchAnswer, ChangeAnswerView, DecisionBatch, RequestView } from "@sallyport/contract/admin";
import type { RemoteDecision } from "@sallyport/contract/remote";
import type { ReactNode } from "react";
import { Hostile, Message } from "../display/hostile.tsx";
import { pairLabel, plural } from "../display/words.ts";
import { notify } from "../parts/notices.tsx";
import { errorText } from "../parts/states.tsx";
import { cache } from "./admin.ts";
import { admin } from "./late-admin.ts";
import { dropRows } from "./request-pages.ts";

type Words = RemoteDecision["words"];

export const byRequest = ({ id, digest }: RequestView): RemoteDecision["by"] => ({
  kind: "request",
  requestId: id,
  digest,
});

const DONE: Readonly<Record<AdminDecisionKind, string>> = {
  approve_for_session: "Approved for the session",
  approve_permanently: "Approved permanently",
  deny: "Denied",
  block: "Blocked by a rule",
};

const asked = ({ resource }: RequestView): string => pairLabel(resource.type, resource.operation);

export async function decide(
  request: RequestView,
  kind: AdminDecisionKind,
  words: Words = {},
): Promise<boolean> {
  dropRows(new Set([request.id]));
  let decision: Decision;
  try {
    decision = await admin.decide(kind, byRequest(request), words);
  } catch (error) {
    notify({
      tone: "danger",
      text: (
        <>
          Not decided: <Message text={errorText(error)} />
        </>
      ),
    });
    await refreshRequests();
    return false;
  }
  if (!decision.ok) {
    notify({ tone: "warn", text: refusalText(decision) });
    await refreshRequests();
    return false;
  }
  dropRows(new Set(decision.settled));
  notify({
    tone: kind === "deny" || kind === "block" ? "neutral" : "good",
    text: doneText(request, kind, words, decision),
    undo: undoOf([decision]),
  });
  await cache.invalidateQueries({ queryKey: ["request", request.id] });
  return true;
}

function doneText(request: RequestView, kind: AdminDecisionKind, words: Words, decision: Decided): ReactNode {
  const others = decision.settled.length - 1;
  const once = words.maxUses === 1 && (kind === "approve_for_session" || kind === "approve_permanently");
  return (
    <>
      <span className="font-medium">{once ? "Approved once" : DONE[kind]}</span>: {asked(request)} of{" "}
      <Hostile text={request.subject.name} />
      {others > 0 ? `, with ${plural(others, "more request")}` : ""}
      {decision.jobs > 0 ? `; ${plural(decision.jobs, "stopped job")} goes on` : ""}
    </>
  );
}

export function refusalText(refusal: Pick<Refusal, "code" | "message" | "decidedBy">): ReactNode {
  if (refusal.code === "already_decided") {
    const who = refusal.decidedBy;
    return (
      <span data-already-decided>
        Already decided{" "}
        {who === null || who === undefined ? (
          "elsewhere"
        ) : (
          <>
            by <Hostile text={String(who)} />
          </>
        )}
        : your answer changed nothing
      </span>
    );
  }
  if (refusal.code === "digest_mismatch")
    return "The request changed while you looked at it: look again, then decide";
  return <Message text={refusal.message} />;
}

/** Takes back everything that the decisions made, one after the other; what was refused is said. */
function undoOf(
  decisions: readonly Decided[],
): { readonly label: string; readonly run: () => void } | undefined {
  const steps = decisions.filter(({ repeated }) => !repeated).flatMap(takingBack);
  if (steps.length === 0) return undefined;
  const undo = async (): Promise<void> => {
    for (const step of steps) {
      const answer = await step();
      if (!answer.ok) throw new Error(answer.message);
    }
  };
  return {
    label: steps.length === 1 ? "Undo" : `Undo all ${steps.length}`,
    run: () => {
      undo()
        .then(
          () =>
            notify({
              tone: "neutral",
              text: `${steps.length === 1 ? "Taken back. It" : `${steps.length} decisions taken back. They`} will be asked for again; what already ran stays done.`,
            }),
          (error: unknown) =>
            notify({
              tone: "danger",
              text: (
                <>
                  Not undone: <Message text={errorText(error)} />
                </>
              ),
            }),
        )
        .then(refreshRequests)
        .catch(() => undefined);
    },
  };
}

function takingBack({ approval, denial, ruleId }: Decided): readonly (() => Promise<ChangeAnswerView>)[] {
  const reason = "undone by the approver";
  if (approval !== null) return [() => admin.revokeApproval(approval.id, reason)];
  if (denial !== null) return [() => admin.revokeDenial(denial.id, reason)];
  if (ruleId !== null) return [() => admin.removeRule(ruleId, reason)];
  return [];
}

/** All or none. The answer says which item was in the way. */
export async function decideBatch(items: DecisionBatch["items"]): Promise<BatchAnswer | null> {
  try {
    const answer = await admin.decideBatch(items);
    if (answer.committed) {
      const decided = answer.answers.flatMap((one) => (one.ok ? [one as Decided] : []));
      dropRows(new Set(decided.flatMap(({ settled }) => settled)));
      const text = `${plural(items.length, "request")} decided together`;
      notify({ tone: "good", text, undo: undoOf(decided) });
    }
    await refreshRequests();
    return answer;
  } catch (error) {
    notify({
      tone: "danger",
      text: (
        <>
          Nothing was decided: <Message text={errorText(error)} />
        </>
      ),
    });
    return null;
  }
}

async function refreshRequests(): Promise<void> {
  await Promise.all([
    cache.invalidateQueries({ queryKey: ["requests"] }),
    cache.invalidateQueries({ queryKey: ["request"] }),
  ]);
}
