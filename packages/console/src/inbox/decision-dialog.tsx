/** The frame of every decision dialog, for one request or several: what is decided, a reason, and one way to answer. */
import type { FormEvent, KeyboardEvent, ReactNode, RefObject } from "react";
import { Button } from "../parts/button.tsx";
import { TextArea } from "../parts/field.tsx";
import { Modal, ModalActions } from "../parts/modal.tsx";

const REASON_LENGTH_MAX = 500;

export interface ReasonWords {
  readonly label: string;
  readonly value: string;
  readonly onValue: (reason: string) => void;
  readonly field?: RefObject<HTMLTextAreaElement | null> | undefined;
  /** Enter in the field answers. WHY not everywhere: what approves is pressed, not typed. */
  readonly answersOnEnter?: boolean | undefined;
}

export function DecisionDialog({
  title,
  wide = false,
  first,
  children,
  reason,
  note,
  answer,
  onAnswer,
  cancel = "Cancel",
  onCancel,
  onClose,
}: {
  readonly title: string;
  readonly wide?: boolean;
  readonly first?: RefObject<HTMLElement | null> | undefined;
  readonly children: ReactNode;
  /** `null`: no reason is asked for in this step. */
  readonly reason: ReasonWords | null;
  /** Beside the answers: what to be careful about. */
  readonly note?: ReactNode;
  readonly answer: {
    readonly label: string;
    readonly look: "primary" | "danger";
    readonly disabled?: boolean;
  };
  readonly onAnswer: () => void;
  readonly cancel?: string;
  readonly onCancel?: (() => void) | undefined;
  readonly onClose: () => void;
}): ReactNode {
  const submit = (event: FormEvent | KeyboardEvent): void => {
    event.preventDefault();
    if (answer.disabled !== true) onAnswer();
  };
  return (
    <Modal open onClose={onClose} wide={wide} first={first} title={title}>
      <form onSubmit={submit}>
        {children}
        {reason === null ? null : (
          <div className="mt-4">
            <TextArea
              ref={reason.field}
              label={reason.label}
              value={reason.value}
              maxLength={REASON_LENGTH_MAX}
              onChange={(event) => reason.onValue(event.target.value)}
              onKeyDown={(event) => {
                if (reason.answersOnEnter === true && event.key === "Enter" && !event.shiftKey) submit(event);
              }}
            />
          </div>
        )}
        <ModalActions>
          {note === undefined ? null : <span className="mr-auto text-xs text-danger">{note}</span>}
          <Button onClick={onCancel ?? onClose}>{cancel}</Button>
          <Button type="submit" look={answer.look} disabled={answer.disabled}>
            {answer.label}
          </Button>
        </ModalActions>
      </form>
    </Modal>
  );
}
