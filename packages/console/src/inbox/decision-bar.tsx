/** The answers. The narrowest comes first; what reaches further than this once or this session opens a dialog. */
import type { RequestView } from "@sallyport/contract/admin";
import { Ban, Check, CheckCheck, Infinity as Forever, SlidersHorizontal, X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Button, Key } from "../parts/button.tsx";

export type DialogName = "approve" | "permanent" | "deny" | "block";

export const hasSession = ({ origin }: RequestView): boolean =>
  origin.sessionKey !== null && origin.sessionKey !== undefined;

export function DecisionBar({
  request,
  mayDecide,
  onOnce,
  onSession,
  onDialog,
}: {
  readonly request: RequestView;
  readonly mayDecide: boolean;
  readonly onOnce: () => void;
  readonly onSession: () => void;
  readonly onDialog: (name: DialogName) => void;
}): ReactNode {
  const reason = useId();
  if (request.status !== "pending") return null;
  const keyed = hasSession(request);
  return (
    <div className="border-t border-line bg-surface px-4 py-3 sm:px-6">
      <div role="group" aria-label="Decide" className="flex flex-wrap gap-2">
        <Button look="primary" disabled={!mayDecide} onClick={onOnce}>
          <Check size={15} aria-hidden />
          Allow once
        </Button>
        <Button
          disabled={!mayDecide || !keyed}
          aria-describedby={keyed ? undefined : reason}
          onClick={onSession}
        >
          <CheckCheck size={15} aria-hidden />
          Allow for session
          {keyed && !request.destructive ? <Key>a</Key> : null}
        </Button>
        <Button disabled={!mayDecide} onClick={() => onDialog("permanent")}>
          <Forever size={15} aria-hidden />
          Permanently…
        </Button>
        <Button look="quiet" disabled={!mayDecide} onClick={() => onDialog("approve")}>
          <SlidersHorizontal size={15} aria-hidden />
          More… <Key>e</Key>
        </Button>
        <span className="ml-auto flex gap-2">
          <Button look="danger" disabled={!mayDecide} onClick={() => onDialog("deny")}>
            <X size={15} aria-hidden />
            Deny… <Key>d</Key>
          </Button>
          <Button look="danger" disabled={!mayDecide} onClick={() => onDialog("block")}>
            <Ban size={15} aria-hidden />
            Block…
          </Button>
        </span>
      </div>
      {keyed ? null : (
        <p id={reason} className="mt-2 text-xs text-ink-2" data-no-session>
          “Allow for session” is off: the request has no session key, so there is no session to allow it for.
        </p>
      )}
    </div>
  );
}
