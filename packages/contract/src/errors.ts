/**
 * Every stable code of the project in one table, and the errors that carry one. Each code has a page under
 * `docs/errors/`. Codes are never renamed and never given another meaning.
 * Expected outcomes are values; these errors are for `require…` calls, guarded calls and missing authority.
 */
import type { CheckCode } from "./decision.ts";
import type { FaultCode } from "./parsed.ts";
import type { ExternalAccessCheck } from "./wire/external-access-check.ts";
import type { RequestId } from "./wire/identifier.ts";

interface ErrorEntry {
  /** One line, lower-case, no full stop: the title of the page and of the error body. */
  readonly title: string;
  /** HTTP status where the code answers a call; 200 where it is an outcome and no failure. */
  readonly status: number;
}

const OTHER_CODES = [
  "ERR_ACCESS_DENIED",
  "permission_error",
  "session_key_required",
  "already_decided",
  "digest_mismatch",
  "not_found",
  "store_owned",
  "store_conflict",
  "store_value",
  "store_usage",
  "store_schema",
  "sandbox_unavailable",
  "sandbox_profile",
  "sandbox_failed",
  "invalid_request",
  "invalid_credential",
] as const;

export type ErrorCode = CheckCode | FaultCode | (typeof OTHER_CODES)[number];

export const ERROR_CODES = Object.freeze({
  allowed_setup: { title: "set-up of the system module may use the filesystem", status: 200 },
  allowed_sandbox: { title: "the subject declared this access", status: 200 },
  allowed_session: { title: "approved for this session", status: 200 },
  allowed_permanent: { title: "approved permanently", status: 200 },
  allowed_rule: { title: "allowed by host policy", status: 200 },
  allowed_mode: { title: "allowed by the permission mode", status: 200 },
  approval_required: { title: "a person has to approve this access", status: 403 },
  resource_disabled: { title: "this access was denied and is not asked for again", status: 403 },
  denied_rule: { title: "a deny rule of the host blocks this access", status: 403 },
  denied_mode: { title: "the permission mode refuses this access", status: 403 },
  subject_not_active: { title: "the named subject is not on the active chain", status: 403 },
  no_subject: { title: "nobody is acting: there is no active subject", status: 403 },
  request_limit: { title: "the subject has too many open requests", status: 429 },
  approval_timeout: { title: "nobody decided within the time the caller waited", status: 408 },
  unavailable: { title: "the decision could not be made or recorded", status: 503 },
  invalid_target: { title: "the target cannot be normalized", status: 400 },
  invalid_operation: { title: "resource type and operation do not belong together", status: 400 },
  invalid_subject: { title: "the subject is not well formed", status: 400 },
  invalid_manifest: { title: "the manifest has faults", status: 400 },
  ERR_ACCESS_DENIED: { title: "a guarded call was blocked", status: 403 },
  permission_error: { title: "the acting user may not manage external access", status: 403 },
  session_key_required: {
    title: "a request without a session key cannot be approved for a session",
    status: 409,
  },
  already_decided: { title: "somebody else decided this request first", status: 409 },
  digest_mismatch: { title: "the request changed after it was shown", status: 409 },
  invalid_request: { title: "the call to the server is malformed", status: 400 },
  invalid_credential: {
    title: "the credential of the call is missing, forged, used up or over",
    status: 401,
  },
  not_found: { title: "there is no such request, approval, denial, rule or job", status: 404 },
  store_owned: { title: "another process owns the store", status: 409 },
  store_conflict: { title: "a row with this key exists, or one that it refers to does not", status: 409 },
  store_value: { title: "a value cannot be kept exactly", status: 400 },
  store_usage: { title: "the store was called in the wrong place", status: 500 },
  store_schema: { title: "the store was written by a newer version", status: 503 },
  sandbox_unavailable: { title: "this machine cannot build the wall", status: 503 },
  sandbox_profile: { title: "the rules cannot be enforced by the wall", status: 409 },
  sandbox_failed: { title: "the sandbox ended before its program did", status: 500 },
} as const satisfies Readonly<Record<ErrorCode, ErrorEntry>>);

/** A guarded call was blocked. `check` is the first blocked part; `blocked` holds them all. */
export class ExternalAccessError extends Error {
  override readonly name: string = "ExternalAccessError";
  readonly code = "ERR_ACCESS_DENIED";
  readonly check: ExternalAccessCheck;
  readonly blocked: readonly ExternalAccessCheck[];

  constructor(check: ExternalAccessCheck, ...further: readonly ExternalAccessCheck[]) {
    const blocked = Object.freeze([check, ...further]);
    super(blocked.map((part) => part.message).join("; "));
    this.check = check;
    this.blocked = blocked;
  }
}

/** The access that is missing, and the request that waits for a person. */
export interface PendingCheck {
  readonly check: ExternalAccessCheck;
  readonly requestId: RequestId;
}

/** The call was blocked and its request is registered: once it is approved the call can be made again. */
export class AccessPendingError extends ExternalAccessError {
  override readonly name: string = "AccessPendingError";
  readonly requestId: RequestId;

  constructor(pending: PendingCheck, ...further: readonly ExternalAccessCheck[]) {
    super(pending.check, ...further);
    this.requestId = pending.requestId;
  }
}

/** The acting user has no authority. Told before anything is said about what exists. */
export class PermissionError extends Error {
  override readonly name: string = "PermissionError";
  readonly code = "permission_error";

  constructor(action: string) {
    super(
      `the acting user may not ${action}: it takes a user with a super role or super access level, acting outside any organization`,
    );
  }
}
