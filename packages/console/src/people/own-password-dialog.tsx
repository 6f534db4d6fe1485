/** One's own password. Whoever came in by a link has none to tell yet; everybody else tells the present one. */
import { type AdminSession, PASSWORD_LENGTH_MIN } from "@sallyport/contract/admin";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { Hostile } from "../display/hostile.tsx";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/field.tsx";
import { Modal, ModalActions } from "../parts/modal.tsx";
import { errorText } from "../parts/states.tsx";

export function OwnPasswordDialog({
  way,
  onClose,
}: {
  readonly way: AdminSession["way"];
  readonly onClose: () => void;
}): ReactNode {
  const [password, setPassword] = useState("");
  const [present, setPresent] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    admin
      .setOwnPassword({ password, ...(way === "link" ? {} : { present }) })
      // INVARIANT: nothing that the person saw stays in the page: it begins again, with the new password.
      .then(() => location.assign("/"))
      .catch((error: unknown) => {
        setBusy(false);
        setFault(errorText(error));
      });
  };
  return (
    <Modal open onClose={onClose} title="Your password" first={first}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        {fault === null ? null : (
          <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-sm text-danger">
            <Hostile text={fault} />
          </p>
        )}
        {way === "link" ? null : (
          <TextField
            ref={first}
            label="Present password"
            type="password"
            autoComplete="current-password"
            required
            value={present}
            onChange={(event) => setPresent(event.target.value)}
          />
        )}
        <TextField
          ref={way === "link" ? first : undefined}
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          minLength={PASSWORD_LENGTH_MIN}
          hint={`At least ${PASSWORD_LENGTH_MIN} characters. You sign in again with it, in every browser.`}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={busy}>
            Set the password
          </Button>
        </ModalActions>
      </form>
    </Modal>
  );
}
