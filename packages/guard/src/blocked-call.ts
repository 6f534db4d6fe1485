/**
 * The error of a guarded call. It has the shape that Node's own errors have (`code`, `syscall`, `path`, `dest`), and
 * beside it the check, the request and what to do next. Throwing it is the refusal, whatever becomes of its texts.
 */
import {
  AccessPendingError,
  type DecisionId,
  type ExternalAccessCheck,
  ExternalAccessError,
} from "@sallyport/contract";
import { append, bare, construct, freeze, put } from "./captured.ts";

/** The call as the program wrote it. */
export interface CallFacts {
  readonly syscall: string;
  readonly path?: string | undefined;
  readonly dest?: string | undefined;
}

/** `undefined` where all parts are allowed. Pending where every blocked part waits for a person. */
export function blockedError(
  checks: readonly ExternalAccessCheck[],
  facts: CallFacts,
): ExternalAccessError | undefined {
  const blocked: ExternalAccessCheck[] = [];
  let isPending = true;
  for (let index = 0; index < checks.length; index++) {
    const check = checks[index] as ExternalAccessCheck;
    if (check.allowed) continue;
    append(blocked, check);
    if (check.code !== "approval_required" || check.requestId === undefined) isPending = false;
  }
  const first = blocked[0];
  if (first === undefined) return undefined;
  const { requestId } = first;
  const words: unknown[] = [];
  append(words, isPending && requestId !== undefined ? bare({ check: first, requestId }) : first);
  for (let index = 1; index < blocked.length; index++) append(words, blocked[index]);
  // WHY: not `new` with the list spread out, which asks the iterator of arrays.
  const error: unknown = construct(isPending ? AccessPendingError : ExternalAccessError, words);
  return withFacts(error as ExternalAccessError, facts);
}

/** A call that is refused without a question: there is nothing that a person could approve. */
export function refusedError(message: string, facts: CallFacts): ExternalAccessError {
  return withFacts(new ExternalAccessError(refusal("denied_rule", message)), facts);
}

/** A target that means nothing. */
export function invalidError(message: string, facts: CallFacts): ExternalAccessError {
  return withFacts(new ExternalAccessError(refusal("invalid_target", message)), facts);
}

let refusals = 0;

function refusal(code: "denied_rule" | "invalid_target", message: string): ExternalAccessCheck {
  const decision = freeze(
    bare({
      id: `guard-${++refusals}` as DecisionId,
      decision: "denied",
      decisionReason: message,
      ruleRefs: freeze([]),
      updatedInputRef: null,
      approvalActionId: null,
      expiresAt: null,
      scope: null,
      destructive: false,
      impactScope: "nothing: the call was not made",
      rollbackAdvice: "nothing to undo",
      decisionSource: code === "denied_rule" ? "builtin_rule" : "validation",
    }),
  );
  const check = bare({ allowed: false, requiresApproval: false, code, message, decision });
  return freeze(check) as unknown as ExternalAccessCheck;
}

function withFacts<E extends ExternalAccessError>(error: E, { syscall, path, dest }: CallFacts): E {
  put(error, "syscall", syscall);
  if (path !== undefined) put(error, "path", path);
  if (dest !== undefined) put(error, "dest", dest);
  return error;
}
