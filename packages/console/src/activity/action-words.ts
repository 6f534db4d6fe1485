/** What a person or the host did, or tried to do, in words. */
import type { PolicyAction } from "@sallyport/contract";

const ACTION_WORDS: Readonly<Record<PolicyAction, string>> = {
  approve_for_session: "approve for the session",
  approve_permanently: "approve permanently",
  deny: "deny",
  block: "block by a rule",
  revoke_approval: "revoke the approval",
  revoke_denial: "lift the denial",
  set_rule: "set a rule",
  remove_rule: "remove a rule",
  set_mode: "set the mode",
  set_freeze: "freeze, or lift the freeze",
  end_session: "end a session",
  complete_setup: "end set-up",
  retry_resume: "retry a resume job",
  retain_events: "remove old events",
  set_account: "change an account",
  set_own_password: "set a new password",
  sign_in: "sign in",
  issue_credential: "issue a runtime credential",
  revoke_credential: "revoke a runtime credential",
  issue_token: "make a token",
  revoke_token: "revoke a token",
  retry_delivery: "retry a notification",
  give_up_delivery: "give a notification up",
  list: "look at what stands",
};

/** `undefined` for an action of another version. */
export const actionWords = (code: string): string | undefined =>
  Object.hasOwn(ACTION_WORDS, code) ? ACTION_WORDS[code as PolicyAction] : undefined;
