/**
 * Session approvals by organization, user and key, each compared as given: `21` and `"21"` are two users.
 */
import { nested } from "./nested.ts";
import type { Owner } from "./pattern-table.ts";
import type { Approval, PrincipalId } from "./question.ts";
import { SubjectMap } from "./subject-map.ts";

/** What one session holds. */
export class SessionNode {
  readonly owners = new SubjectMap<Owner<Approval>>();
  readonly approvalIds = new Set<string>();
}

export interface SessionIdentity {
  readonly organizationId: PrincipalId | null;
  readonly userId: PrincipalId | null;
  readonly sessionKey: string | null;
}

type ByKey = Map<string, SessionNode>;
type ByUser = Map<PrincipalId | null, ByKey>;

export class SessionMap {
  readonly #byOrganization = new Map<PrincipalId | null, ByUser>();

  get(identity: SessionIdentity): SessionNode | undefined {
    // INVARIANT: an empty string is no key, so it holds nothing and finds nothing.
    if (!identity.sessionKey) return undefined;
    return this.#byOrganization.get(identity.organizationId)?.get(identity.userId)?.get(identity.sessionKey);
  }

  getOrMake(identity: SessionIdentity, sessionKey: string): SessionNode {
    const byUser = nested(this.#byOrganization, identity.organizationId, (): ByUser => new Map());
    const byKey = nested(byUser, identity.userId, (): ByKey => new Map());
    return nested(byKey, sessionKey, () => new SessionNode());
  }

  delete(identity: SessionIdentity): void {
    if (!identity.sessionKey) return;
    const byUser = this.#byOrganization.get(identity.organizationId);
    const byKey = byUser?.get(identity.userId);
    byKey?.delete(identity.sessionKey);
    if (byKey?.size === 0) byUser?.delete(identity.userId);
    if (byUser?.size === 0) this.#byOrganization.delete(identity.organizationId);
  }
}
