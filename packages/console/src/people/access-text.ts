/** What a person may do, as it is written in a form and as it is sent. */
import type { AccountAccess } from "@sallyport/contract/admin";
import { principalOf, principalText } from "../parts/principal-text.ts";

export interface AccessText {
  readonly roles: string;
  readonly organization: string;
}

export const DECIDES: AccessText = { roles: "super", organization: "" };

export function accessOf({
  roles,
  organization,
}: AccessText): Pick<AccountAccess, "roles" | "organizationId"> {
  return {
    roles: [...new Set(roles.split(",").map((role) => role.trim()))].filter((role) => role !== ""),
    organizationId: (principalOf(organization) ?? null) as AccountAccess["organizationId"],
  };
}

export const accessText = ({
  roles,
  organizationId,
}: Pick<AccountAccess, "roles" | "organizationId">): AccessText => ({
  roles: roles.join(", "),
  organization: organizationId === null ? "" : principalText(organizationId),
});
