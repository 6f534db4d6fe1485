/** Whether a rule of host policy can meet a chain in a session. Every field is compared by itself. */
import { type Subject, sameSubject } from "@sallyport/contract";
import type { RuleRow, SessionIdentity } from "@sallyport/store";

export interface RuleAudience {
  /** Of the whole chain. */
  readonly subjects: readonly Subject[];
  readonly session: SessionIdentity;
}

/** `null` in a rule: anybody. */
export function concernsRule(
  rule: Pick<RuleRow, "subject" | keyof SessionIdentity>,
  { subjects, session }: RuleAudience,
): boolean {
  const { subject, organizationId, userId, sessionKey } = rule;
  return (
    (subject === null || subjects.some((known) => sameSubject(known, subject))) &&
    (organizationId === null || organizationId === session.organizationId) &&
    (userId === null || userId === session.userId) &&
    (sessionKey === null || sessionKey === session.sessionKey)
  );
}
