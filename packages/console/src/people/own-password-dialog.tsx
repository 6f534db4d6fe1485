/** One's own password. Whoever came in by a link has none to tell yet; everybody else tells the present one. */
import { type AdminSession, PASSWORD_LENGTH_MIN } from "@sallyport/contract/admin";
import { type ReactNode, useRef, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { Message } from "../display/hostile.tsx";
import { TextField } from "../parts/field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
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
  const first = useRef<HTMLInputElement>(null);
  const send = (): Promise<true | null> => {
    setFault(null);
    return admin.setOwnPassword({ password, ...(way === "link" ? {} : { present }) }).then(
      () => true,
      (error: unknown) => {
        setFault(errorText(error));
        return null;
      },
    );
  };
  return (
    <FormDialog
      title="Your password"
      confirm="Set the password"
      first={first}
      onClose={onClose}
      onSend={send}
      // INVARIANT: nothing that the person saw stays in the page: it begins again, with the new password.
      onAnswer={() => location.assign("/")}
    >
      {fault === null ? null : (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-sm text-danger">
          <Message text={fault} />
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
    </FormDialog>
  );
}
