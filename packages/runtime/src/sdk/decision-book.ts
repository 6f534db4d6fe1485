/**
 * The last decisions of this process, so that guarded code can look at its own ones by id. Bounded. Must never show a
 * decision to another subject, user, organization or session than it was made for.
 */
import {
  type CallerContext,
  type ExternalAccessCheck,
  type PermissionDecision,
  sameSubject,
} from "@sallyport/contract";

const KEPT_MAX = 1024;

interface Kept {
  readonly caller: CallerContext;
  readonly decision: PermissionDecision;
}

export class DecisionBook {
  readonly #kept = new Map<string, Kept>();

  keep(caller: CallerContext, check: ExternalAccessCheck): ExternalAccessCheck {
    this.#kept.set(check.decision.id, { caller, decision: check.decision });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return check;
  }

  find(caller: CallerContext, id: string): PermissionDecision | undefined {
    const kept = this.#kept.get(id);
    return kept !== undefined && isSame(kept.caller, caller) ? kept.decision : undefined;
  }
}

function isSame(left: CallerContext, right: CallerContext): boolean {
  const [a, b] = [left.frames.at(-1)?.subject, right.frames.at(-1)?.subject];
  return (
    a !== undefined &&
    b !== undefined &&
    sameSubject(a, b) &&
    left.user?.id === right.user?.id &&
    left.organizationId === right.organizationId &&
    left.sessionKey === right.sessionKey
  );
}
