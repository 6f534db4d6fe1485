/** A question before something is taken away, with room for a reason. */
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { Modal, ModalActions } from "./modal.tsx";

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
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onConfirm(reason.trim() === "" ? undefined : reason.trim());
  };
  return (
    <Modal open onClose={onClose} title={title} first={field}>
      <form onSubmit={submit}>
        <div className="mb-4 text-sm">{children}</div>
        <TextField
          ref={field}
          label="Reason (kept in the audit log)"
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.target.value)}
        />
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger">
            {confirm}
          </Button>
        </ModalActions>
      </form>
    </Modal>
  );
}
