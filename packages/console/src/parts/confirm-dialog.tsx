/** A question before something is taken away, with room for a reason. */
import { type ReactNode, useRef, useState } from "react";
import { FormDialog, ReasonField, reasonWords } from "./form-dialog.tsx";

export function ConfirmDialog({
  title,
  confirm,
  children,
  onClose,
  onConfirm,
}: {
  readonly title: string;
  readonly confirm: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
  readonly onConfirm: (reason: string | undefined) => void;
}): ReactNode {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  return (
    <FormDialog
      title={title}
      confirm={confirm}
      look="danger"
      first={field}
      onClose={onClose}
      onSend={async () => reasonWords(reason)}
      onAnswer={(words) => onConfirm(words.reason)}
    >
      <div className="text-sm">{children}</div>
      <ReasonField field={field} reason={reason} onReason={setReason} />
    </FormDialog>
  );
}
