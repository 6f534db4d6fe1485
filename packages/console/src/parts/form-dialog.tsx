/**
 * A dialog with a form: its fields, a way back and a way on. What was sent is not sent again before its answer; a refusal,
 * which whoever sends says, leaves the form as it was filled in.
 */
import { type FormEvent, type ReactNode, type RefObject, useState } from "react";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { Modal, ModalActions } from "./modal.tsx";

export function FormDialog<Answer>({
  title,
  confirm,
  look = "primary",
  wide = false,
  isReady = true,
  first,
  children,
  onClose,
  onSend,
  onAnswer,
}: {
  readonly title: ReactNode;
  /** On the button that sends. */
  readonly confirm: string;
  readonly look?: "primary" | "danger";
  readonly wide?: boolean;
  readonly isReady?: boolean;
  readonly first?: RefObject<HTMLElement | null> | undefined;
  readonly children: ReactNode;
  readonly onClose: () => void;
  /** `null`: it was refused, and that was said. */
  readonly onSend: () => Promise<Answer | null>;
  readonly onAnswer: (answer: Answer) => void;
}): ReactNode {
  const [busy, setBusy] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    onSend()
      .then((answer) => (answer === null ? setBusy(false) : onAnswer(answer)))
      .catch(() => setBusy(false));
  };
  return (
    <Modal open wide={wide} onClose={onClose} title={title} first={first}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        {children}
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={look} disabled={busy || !isReady}>
            {confirm}
          </Button>
        </ModalActions>
      </form>
    </Modal>
  );
}

/** Why somebody does it. */
export function ReasonField({
  field,
  reason,
  onReason,
}: {
  readonly field?: RefObject<HTMLInputElement | null> | undefined;
  readonly reason: string;
  readonly onReason: (reason: string) => void;
}): ReactNode {
  return (
    <TextField
      ref={field}
      label="Reason (kept in the audit log)"
      value={reason}
      maxLength={500}
      onChange={(event) => onReason(event.target.value)}
    />
  );
}

/** The reason as calls take it: left out where there is none. */
export const reasonWords = (reason: string): { readonly reason?: string } =>
  reason.trim() === "" ? {} : { reason: reason.trim() };
