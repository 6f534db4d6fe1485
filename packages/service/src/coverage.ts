/**
 * Which pending requests a decision covers, asked of the engine itself: a scratch snapshot that holds nothing but the
 * decision. What is resolved by a decision is thereby exactly what the next check would say.
 */
import { type Access, type Parsed, parseAccess } from "@sallyport/contract";
import {
  ActiveContext,
  type Change,
  PLAIN_CONTEXT,
  Snapshot,
  type SnapshotOptions,
  decide,
} from "@sallyport/policy";
import type { SessionIdentity, Tuple } from "@sallyport/store";

const DECIDED: ReadonlySet<string> = new Set([
  "allowed_session",
  "allowed_permanent",
  "resource_disabled",
  "denied_rule",
]);

export type Coverage =
  | { readonly ok: true; readonly covers: (tuple: Tuple, session: SessionIdentity) => boolean }
  | { readonly ok: false; readonly message: string };

/** @param change the approval, denial or rule, without limits: a limit ends a decision, it does not narrow it */
export function coverageOf(options: SnapshotOptions, change: Change): Coverage {
  const snapshot = new Snapshot(options);
  const taken = snapshot.apply(change);
  if (!taken.ok) return { ok: false, message: taken.message };
  return {
    ok: true,
    covers: (tuple, session) => {
      const access = accessOfTuple(tuple, options);
      if (!access.ok) return false;
      const frame = { subject: tuple.subject, phase: "runtime", entry: "host", contracts: [] } as const;
      const active = new ActiveContext(snapshot, {
        frames: [frame],
        ...PLAIN_CONTEXT,
        organizationId: session.organizationId,
        userId: session.userId,
        sessionKey: session.sessionKey,
      });
      return DECIDED.has(decide(active, { access: access.value, ask: "passive", nowMs: 0 }).code);
    },
  };
}

export function accessOfTuple(tuple: Tuple, { parseUrl }: Pick<SnapshotOptions, "parseUrl">): Parsed<Access> {
  const { resourceType, operation, target } = tuple;
  return parseAccess({ resourceType, operation, target }, parseUrl);
}

export function sessionOfRow({ organizationId, userId, sessionKey }: SessionIdentity): SessionIdentity {
  return { organizationId, userId, sessionKey };
}
