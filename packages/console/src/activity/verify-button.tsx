/** Verifies the whole chain on the server and says how much held, or which row is the first bad one. */
import type { VerifyView } from "@sallyport/contract/admin";
import { Link2, ShieldAlert, ShieldCheck } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { Hostile, Message } from "../display/hostile.tsx";
import { Button } from "../parts/button.tsx";
import { Modal } from "../parts/modal.tsx";
import { errorText } from "../parts/states.tsx";

type Verified =
  | { readonly kind: "answer"; readonly view: VerifyView }
  | { readonly kind: "fault"; readonly text: string };

export function VerifyButton(): ReactNode {
  const [busy, setBusy] = useState(false);
  const [verified, setVerified] = useState<Verified | null>(null);
  const verify = (): void => {
    setBusy(true);
    admin
      .verifyEvents()
      .then(
        (view) => setVerified({ kind: "answer", view }),
        (error: unknown) => setVerified({ kind: "fault", text: errorText(error) }),
      )
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Button disabled={busy} onClick={verify}>
        <Link2 size={15} aria-hidden />
        {busy ? "Verifying…" : "Verify the chain"}
      </Button>
      {verified === null ? null : (
        <Modal open onClose={() => setVerified(null)} title="Chain of the audit log">
          <Outcome verified={verified} />
        </Modal>
      )}
    </>
  );
}

function Outcome({ verified }: { readonly verified: Verified }): ReactNode {
  if (verified.kind === "fault")
    return (
      <p role="alert" className="text-danger">
        It could not be verified: <Hostile text={verified.text} />
      </p>
    );
  const { view } = verified;
  const Icon = view.ok ? ShieldCheck : ShieldAlert;
  return (
    <div className="flex items-start gap-3" data-verified={view.ok}>
      <Icon size={22} aria-hidden className={view.ok ? "text-good" : "text-danger"} />
      <div>
        <p className="font-medium">{view.ok ? "The log is whole" : "The log has been changed"}</p>
        <p className="text-sm text-ink-2">
          <Message text={view.message} />
        </p>
        {view.ok || view.seq === null ? null : (
          <p className="text-sm text-danger">
            First bad row: {view.seq} of node <Hostile text={view.node ?? ""} />
          </p>
        )}
      </div>
    </div>
  );
}
