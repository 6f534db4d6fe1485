/** Inviting somebody, and changing what an account may do. */
import type { Account, Invited } from "@sallyport/contract/admin";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { attempt } from "../data/change.tsx";
import { Hostile } from "../display/hostile.tsx";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/field.tsx";
import { Modal, ModalActions } from "../parts/modal.tsx";
import { AccessFields } from "./access-fields.tsx";
import { DECIDES, accessOf, accessText } from "./access-text.ts";

const NAME = "[A-Za-z0-9][A-Za-z0-9._@+\\-]{0,127}";
const TOPICS = ["accounts"] as const;

export function InviteDialog({
  onClose,
  onInvited,
}: {
  readonly onClose: () => void;
  readonly onInvited: (invited: Invited) => void;
}): ReactNode {
  const [name, setName] = useState("");
  const [access, setAccess] = useState(DECIDES);
  const [busy, setBusy] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    attempt(() => admin.inviteAccount({ name: name.trim(), ...accessOf(access) }), { topics: TOPICS })
      .then((invited) => (invited === null ? setBusy(false) : onInvited(invited)))
      .catch(() => setBusy(false));
  };
  return (
    <Modal open onClose={onClose} title="Invite somebody" first={first}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <p className="text-sm text-ink-2">
          Makes an account without a password, and a link that signs them in once.
        </p>
        <TextField
          ref={first}
          label="Name"
          required
          pattern={NAME}
          title="letters, digits and any of ._@+- (not first)"
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <AccessFields text={access} onText={setAccess} />
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={busy}>
            Make the link
          </Button>
        </ModalActions>
      </form>
    </Modal>
  );
}

export function AccessDialog({
  account,
  onClose,
}: {
  readonly account: Account;
  readonly onClose: () => void;
}): ReactNode {
  const [access, setAccess] = useState(() => accessText(account));
  const [reason, setReason] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const words = { ...accessOf(access), ...(reason.trim() === "" ? {} : { reason: reason.trim() }) };
    attempt(() => admin.setAccountAccess(account.id, words as never), {
      done: "It holds from their next call on.",
      topics: TOPICS,
    })
      .then((changed) => (changed === null ? undefined : onClose()))
      .catch(() => undefined);
  };
  return (
    <Modal
      open
      onClose={onClose}
      title={
        <>
          What <Hostile text={account.name} /> may do
        </>
      }
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <AccessFields text={access} onText={setAccess} />
        <TextField
          label="Reason (kept in the audit log)"
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.target.value)}
        />
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary">
            Change
          </Button>
        </ModalActions>
      </form>
    </Modal>
  );
}
