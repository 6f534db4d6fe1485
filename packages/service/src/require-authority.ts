/**
 * Authority before anything else: whoever may not decide is told so before anything is said about what exists, and
 * the attempt is recorded. The acting user comes from the context; there is no argument to put another one in.
 */
import { PermissionError, type PolicyAction, type RuntimeUser } from "@sallyport/contract";
import { PERMISSION_FAULTS, resolveAuthority } from "./authority/resolve-authority.ts";
import type { CallerContext } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { actorOf, policyEvent } from "./policy-event.ts";

const WORDS: Readonly<Record<PolicyAction, string>> = {
  approve_for_session: "approve external access",
  approve_permanently: "approve external access",
  deny: "deny external access",
  block: "block external access",
  revoke_approval: "revoke an approval",
  revoke_denial: "revoke a denial",
  set_rule: "change rules",
  remove_rule: "change rules",
  set_mode: "change the permission mode",
  end_session: "end a session",
  complete_setup: "end set-up",
  retry_resume: "retry a resume",
  retain_events: "remove old events",
  set_freeze: "freeze or lift the freeze",
  set_account: "change accounts",
  set_own_password: "change a password",
  sign_in: "sign in",
  issue_credential: "issue a runtime credential",
  revoke_credential: "revoke a runtime credential",
  issue_token: "issue a token",
  revoke_token: "revoke a token",
  retry_delivery: "retry a notification",
  give_up_delivery: "give a notification up",
  list: "list external access",
};

/** Throws `PermissionError`. Also where the attempt cannot be recorded: the answer is no either way. */
export async function requireAuthority(
  parts: NodeParts,
  caller: CallerContext,
  action: PolicyAction,
): Promise<void> {
  const user = caller.user as unknown as RuntimeUser | null;
  const authority = resolveAuthority(user, caller.organizationId, parts.authorityNames);
  const isHost = isHostCode(caller);
  if (isHost && authority.ok) return;
  const refusal = new PermissionError(WORDS[action]);
  const event = policyEvent(parts.audit.stamp(), {
    type: "policy.refused",
    action,
    actionId: null,
    actor: actorOf(caller),
    tuple: null,
    requestId: null,
    reason: isHost && !authority.ok ? PERMISSION_FAULTS[authority.reason] : "guarded code may not decide",
    before: null,
    after: null,
  });
  await parts.audit.recordDurably(event).catch(() => undefined);
  throw refusal;
}

/** INVARIANT: guarded code never decides, whatever user it runs for and whatever it carries. */
export function isHostCode(caller: CallerContext): boolean {
  if (caller.credential !== "host") return false;
  return caller.frames.every(({ subject, entry }) => subject.type === "core" && entry === "host");
}
