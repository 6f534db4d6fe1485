/** Inviting somebody, and changing what an account may do. */
import type { Account, Invited } from "@sallyport/contract/admin";
import { type ReactNode, useRef, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { attempt } from "../data/change.tsx";
import { Hostile } from "../display/hostile.tsx";
import { TextField } from "../parts/field.tsx";
import { FormDialog, ReasonField, reasonWords } from "../parts/form-dialog.tsx";
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
  const first = useRef<HTMLInputElement>(null);
  return (
    <FormDialog
      title="Invite somebody"
      confirm="Make the link"
      first={first}
      onClose={onClose}
      onSend={() =>
        attempt(() => admin.inviteAccount({ name: name.trim(), ...accessOf(access) }), { topics: TOPICS })
      }
      onAnswer={onInvited}
    >
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
    </FormDialog>
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
  const words = { ...accessOf(access), ...reasonWords(reason) };
  return (
    <FormDialog
      title={
        <>
          What <Hostile text={account.name} /> may do
        </>
      }
      confirm="Change"
      onClose={onClose}
      onSend={() =>
        attempt(() => admin.setAccountAccess(account.id, words as never), {
          done: "It holds from their next call on.",
          topics: TOPICS,
        })
      }
      onAnswer={onClose}
    >
      <AccessFields text={access} onText={setAccess} />
      <ReasonField reason={reason} onReason={setReason} />
    </FormDialog>
  );
}
