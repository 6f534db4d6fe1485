/**
 * Decisions: the closed lists of codes, outcomes, sources and modes, and what each of them means.
 */

/** Every code of a check with the outcome it stands for. */
export const CHECK_CODES = {
  allowed_setup: "allowed",
  allowed_sandbox: "allowed",
  allowed_session: "allowed",
  allowed_permanent: "allowed",
  allowed_rule: "allowed",
  allowed_mode: "allowed",
  approval_required: "asked",
  resource_disabled: "denied",
  denied_rule: "denied",
  denied_mode: "denied",
  invalid_target: "denied",
  invalid_operation: "denied",
  subject_not_active: "denied",
  no_subject: "denied",
  request_limit: "denied",
  approval_timeout: "denied",
  unavailable: "unavailable",
} as const;

export type CheckCode = keyof typeof CHECK_CODES;

export const OUTCOMES = ["allowed", "sandboxed", "asked", "denied", "unavailable"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Who or what made a decision. */
export const DECISION_SOURCES = [
  "setup",
  "manifest",
  "session_approval",
  "permanent_approval",
  "denial",
  "builtin_rule",
  "host_rule",
  "hook",
  "classifier",
  "mode",
  "observe",
  "validation",
  "context",
  "limit",
  "timeout",
  "fault",
] as const;
export type DecisionSource = (typeof DECISION_SOURCES)[number];

export const PERMISSION_MODES = [
  "default",
  "untrusted",
  "on_request",
  "on_failure",
  "never",
  "plan",
  "bypass",
  "auto",
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export const RULE_EFFECTS = ["deny", "ask", "allow"] as const;
export type RuleEffect = (typeof RULE_EFFECTS)[number];

/** Where a rule comes from. Only `host` may allow; the others may deny or ask. */
export const RULE_SOURCES = ["host", "organization", "user", "session"] as const;
export type RuleSource = (typeof RULE_SOURCES)[number];

export const APPROVAL_SCOPES = ["session", "permanent"] as const;
export type ApprovalScope = (typeof APPROVAL_SCOPES)[number];

export const PHASES = ["runtime", "install"] as const;
export type Phase = (typeof PHASES)[number];
