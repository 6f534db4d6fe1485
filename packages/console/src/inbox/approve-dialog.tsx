/**
 * Every way to approve: how long, how often, how far. What reaches further than the request shows what it would cover and
 * what not, and has to be confirmed in a second step.
 */
import type { AdminDecisionKind } from "@sallyport/client/admin";
import type { RequestDetail, WideningView } from "@sallyport/contract/admin";
import type { RemoteDecision } from "@sallyport/contract/remote";
import { type ReactNode, useRef, useState } from "react";
import { SelectField, TextField } from "../parts/field.tsx";
import { hasSession } from "./decision-bar.tsx";
import { DecisionDialog } from "./decision-dialog.tsx";
import { Sentence } from "./sentence.tsx";
import { WideningPreview, WideningChoice } from "./widening-choice.tsx";

type Scope = "once" | "session" | "permanent";
type Words = RemoteDecision["words"];

const MINUTE_MS = 60_000;
const MINUTES_MAX = 525_600;
const USES_MAX = 1_000_000;

export function ApproveDialog({
  detail,
  scope: first,
  onClose,
  onApprove,
}: {
  readonly detail: RequestDetail;
  readonly scope: Scope;
  readonly onClose: () => void;
  readonly onApprove: (kind: AdminDecisionKind, words: Words) => void;
}): ReactNode {
  const { request, widenings } = detail;
  const keyed = hasSession(request);
  const [scope, setScope] = useState<Scope>(first === "session" && !keyed ? "once" : first);
  const [minutes, setMinutes] = useState("");
  const [uses, setUses] = useState("");
  const [reason, setReason] = useState("");
  const [width, setWidth] = useState<WideningView | null>(null);
  const [isConfirming, setConfirming] = useState(false);
  const start = useRef<HTMLDivElement>(null);

  const fault = countFault(minutes, MINUTES_MAX) ?? countFault(uses, USES_MAX);
  const mustConfirm = width !== null || (scope === "permanent" && request.destructive);
  const approve = (): void => {
    if (mustConfirm && !isConfirming) {
      setConfirming(true);
      return;
    }
    const kind =
      scope === "session" || (scope === "once" && keyed) ? "approve_for_session" : "approve_permanently";
    onApprove(kind, wordsOf({ scope, minutes, uses, reason, width }));
  };

  return (
    <DecisionDialog
      wide
      first={start}
      title={
        isConfirming ? (width === null ? "Approve for good?" : "Approve more than was asked?") : "Approve"
      }
      reason={
        isConfirming ? null : { label: "Reason (kept in the audit log)", value: reason, onValue: setReason }
      }
      answer={{
        label: approveLabel(mustConfirm, isConfirming, scope),
        look: "primary",
        disabled: fault !== undefined,
      }}
      onAnswer={approve}
      cancel={isConfirming ? "Back" : "Cancel"}
      onCancel={isConfirming ? () => setConfirming(false) : onClose}
      onClose={onClose}
    >
      <div ref={start} tabIndex={-1} className="outline-none">
        <p className="mb-4 text-sm">
          <Sentence request={request} />
        </p>
        {isConfirming ? (
          <Confirmation width={width} scope={scope} />
        ) : (
          <div className="flex flex-col gap-4">
            <ScopeChoice scope={scope} keyed={keyed} onScope={setScope} />
            <div className="grid gap-3 sm:grid-cols-2">
              <TextField
                label="At most for (minutes)"
                inputMode="numeric"
                placeholder="no end"
                value={minutes}
                fault={countFault(minutes, MINUTES_MAX)}
                onChange={(event) => setMinutes(event.target.value)}
              />
              <TextField
                label="At most how often"
                inputMode="numeric"
                placeholder="any number"
                disabled={scope === "once"}
                value={scope === "once" ? "1" : uses}
                fault={countFault(uses, USES_MAX)}
                onChange={(event) => setUses(event.target.value)}
              />
            </div>
            <WideningChoice widenings={widenings} chosen={width} onChoose={setWidth} />
          </div>
        )}
      </div>
    </DecisionDialog>
  );
}

function approveLabel(mustConfirm: boolean, isConfirming: boolean, scope: Scope): string {
  if (isConfirming) return "Yes, approve";
  if (mustConfirm) return "Continue…";
  return { once: "Approve once", session: "Approve for the session", permanent: "Approve permanently" }[
    scope
  ];
}

function ScopeChoice({
  scope,
  keyed,
  onScope,
}: {
  readonly scope: Scope;
  readonly keyed: boolean;
  readonly onScope: (scope: Scope) => void;
}): ReactNode {
  const options = [
    { value: "once", label: "Once: the next time only" },
    ...(keyed ? [{ value: "session", label: "Session: until this session ends" } as const] : []),
    { value: "permanent", label: "Permanent: until somebody revokes it" },
  ] as const;
  return (
    <SelectField
      label="How long"
      options={options}
      value={scope}
      onValue={onScope}
      hint={keyed ? undefined : "There is no session to choose: the request has no session key."}
    />
  );
}

function Confirmation({
  width,
  scope,
}: {
  readonly width: WideningView | null;
  readonly scope: Scope;
}): ReactNode {
  return (
    <div className="rounded-lg border border-line bg-warn-soft p-4 text-sm" data-confirm>
      {width === null ? (
        <p>
          This can destroy something{scope === "permanent" ? ", and stays allowed until it is revoked" : ""}.
        </p>
      ) : (
        <>
          <p className="mb-2 font-medium text-warn">
            {width.wide ? "This reaches far beyond the request." : "This reaches further than the request."}
          </p>
          <WideningPreview widening={width} />
        </>
      )}
    </div>
  );
}

function countFault(text: string, max: number): string | undefined {
  if (text.trim() === "") return undefined;
  const count = Number(text);
  return Number.isInteger(count) && count >= 1 && count <= max
    ? undefined
    : `write a whole number from 1 to ${max.toLocaleString("en")}, or nothing`;
}

function wordsOf({
  scope,
  minutes,
  uses,
  reason,
  width,
}: {
  readonly scope: Scope;
  readonly minutes: string;
  readonly uses: string;
  readonly reason: string;
  readonly width: WideningView | null;
}): Words {
  const maxUses = scope === "once" ? 1 : uses.trim() === "" ? null : Number(uses);
  return {
    ...(width === null ? {} : { widen: { match: width.match, target: width.target } }),
    ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
    ...(minutes.trim() === "" ? {} : { expiresAtMs: Date.now() + Number(minutes) * MINUTE_MS }),
    ...(maxUses === null ? {} : { maxUses }),
  };
}
