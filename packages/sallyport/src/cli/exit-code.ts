/** How a command ends, for scripts. Codes are never given another meaning; docs/cli.md shows this table. */
import type { ErrorCode } from "@sallyport/contract";

export const EXIT_CODES = Object.freeze({
  done: { code: 0, meaning: "done; for `check`: allowed" },
  failed: { code: 1, meaning: "it could not be done: the message says why and what to do" },
  usage: { code: 2, meaning: "the command line is wrong" },
  not_found: { code: 3, meaning: "there is no such request, approval, denial, rule, file or folder" },
  no_authority: { code: 4, meaning: "the acting user may not do this" },
  conflict: { code: 5, meaning: "somebody else decided first, or the request changed after it was shown" },
  invalid: { code: 6, meaning: "the input is wrong: a manifest with faults, a bad target, a bad line" },
  denied: { code: 7, meaning: "for `check`: denied" },
  approval_required: { code: 8, meaning: "for `check`: a person would be asked" },
  broken_log: { code: 9, meaning: "for `audit verify`: the log was changed" },
  unavailable: { code: 10, meaning: "the service or its store cannot answer now" },
  not_enforced: {
    code: 11,
    meaning:
      "for `doctor`: this machine lacks something; for `run`: the wall that was asked for cannot be had",
  },
  interrupted: { code: 130, meaning: "ended by the person at the terminal" },
} as const);

export type ExitName = keyof typeof EXIT_CODES;

/** The way a command ends that got this code from the service. */
export function exitOf(code: ErrorCode): ExitName {
  switch (code) {
    case "allowed_setup":
    case "allowed_sandbox":
    case "allowed_session":
    case "allowed_permanent":
    case "allowed_rule":
    case "allowed_mode":
      return "done";
    case "approval_required":
      return "approval_required";
    case "resource_disabled":
    case "denied_rule":
    case "denied_mode":
    case "subject_not_active":
    case "no_subject":
    case "request_limit":
    case "approval_timeout":
    case "ERR_ACCESS_DENIED":
      return "denied";
    case "invalid_target":
    case "invalid_operation":
    case "invalid_subject":
    case "invalid_manifest":
    case "invalid_request":
    case "store_value":
      return "invalid";
    case "permission_error":
    case "invalid_credential":
      return "no_authority";
    case "already_decided":
    case "digest_mismatch":
    case "session_key_required":
    case "store_conflict":
      return "conflict";
    case "not_found":
      return "not_found";
    case "unavailable":
    case "store_owned":
    case "store_usage":
    case "store_schema":
      return "unavailable";
    case "sandbox_unavailable":
    case "sandbox_profile":
    case "sandbox_failed":
      return "not_enforced";
  }
}
