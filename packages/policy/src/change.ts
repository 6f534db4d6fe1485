/**
 * How a snapshot changes: one fact at a time, as plain data that can cross a wire.
 */
import type { Subject } from "@sallyport/contract";
import type {
  Approval,
  BuiltinDeny,
  Contract,
  Denial,
  HostRule,
  PrincipalId,
  Registration,
} from "./question.ts";

export type Change =
  | { readonly kind: "contract_set"; readonly contract: Contract }
  | { readonly kind: "contract_removed"; readonly id: string }
  | { readonly kind: "subject_registered"; readonly registration: Registration }
  | { readonly kind: "subject_unregistered"; readonly subject: Subject }
  | { readonly kind: "builtin_set"; readonly builtin: BuiltinDeny }
  | { readonly kind: "rule_set"; readonly rule: HostRule }
  | { readonly kind: "rule_removed"; readonly id: string }
  | { readonly kind: "approval_set"; readonly approval: Approval }
  | { readonly kind: "approval_removed"; readonly id: string }
  | { readonly kind: "denial_set"; readonly denial: Denial }
  | { readonly kind: "denial_removed"; readonly id: string }
  | {
      readonly kind: "session_ended";
      readonly organizationId: PrincipalId | null;
      readonly userId: PrincipalId | null;
      readonly sessionKey: string;
    };

export type ChangeKind = Change["kind"];
