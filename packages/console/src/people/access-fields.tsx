/** What a person may do: roles and an organization. Which role carries authority is the service's to say. */
import type { ReactNode } from "react";
import { TextField } from "../parts/field.tsx";
import type { AccessText } from "./access-text.ts";

export function AccessFields({
  text,
  onText,
}: {
  readonly text: AccessText;
  readonly onText: (text: AccessText) => void;
}): ReactNode {
  return (
    <>
      <TextField
        label="Roles"
        value={text.roles}
        maxLength={500}
        hint="Separated by commas. Who has the role super decides; anybody else can sign in and see nothing."
        onChange={(event) => onText({ ...text, roles: event.target.value })}
      />
      <TextField
        label="Organization"
        value={text.organization}
        maxLength={200}
        placeholder="none"
        hint="Whoever belongs to an organization decides nothing here, whatever their role. 7 and “7” are two organizations: write the second in quotation marks."
        onChange={(event) => onText({ ...text, organization: event.target.value })}
      />
    </>
  );
}
