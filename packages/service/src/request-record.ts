/**
 * A request as it is shown: the row, what goes on after it, and the digest that a decision has to carry.
 * INVARIANT: the target is masked; a decision names the request, never the text that was shown.
 */
import type {
  DestructiveFacts,
  Digest,
  RequestId,
  RequestRecord,
  Resume,
  SubjectFrame,
} from "@sallyport/contract";
import type { AskedRequest, ContinuationRow, RequestRow } from "@sallyport/store";
import { maskTarget } from "./audit/event-masking.ts";
import { shownDigest } from "./digest/shown-digest.ts";
import { timestampOf } from "./node-clock.ts";
import type { NodeParts } from "./node-parts.ts";
import { resourceOfTuple } from "./policy-rows.ts";

export function requestRecord(
  row: RequestRow,
  continuations: readonly ContinuationRow[],
  { maskingKey }: Pick<NodeParts, "maskingKey">,
): RequestRecord {
  const { organizationId, userId, sessionKey, taskId } = row;
  const facts = row.destructive as unknown as Readonly<Record<string, unknown>>;
  const resource = resourceOfTuple(row);
  return Object.freeze({
    id: row.id as RequestId,
    subject: row.subject,
    resource: { ...resource, target: maskTarget(resource.type, resource.target, maskingKey) },
    origin: { userId, organizationId, sessionKey, taskId } as RequestRecord["origin"],
    resume: resumeOf(continuations),
    subjectChain: row.subjectChain as unknown as readonly SubjectFrame[],
    mode: row.mode,
    destructive: facts["destructive"] === true,
    impactScope: String(facts["impact_scope"]),
    rollbackAdvice: String(facts["rollback_advice"]),
    decisionSource: facts["decision_source"] as DestructiveFacts["decisionSource"],
    attestedBy: row.attestedBy,
    status: row.status,
    count: row.count,
    firstSeen: timestampOf(row.firstSeenMs),
    lastSeen: timestampOf(row.lastSeenMs),
    digest: digestOfRequest(row, continuations),
  });
}

/** Of the target itself, not of the masked one: what is decided is what was asked for. */
export function digestOfRequest(row: AskedRequest, continuations: readonly ContinuationRow[]): Digest {
  const { organizationId, userId, sessionKey, taskId } = row;
  return shownDigest({
    subject: row.subject,
    resource: resourceOfTuple(row),
    origin: { organizationId, userId, sessionKey, taskId } as RequestRecord["origin"],
    subjectChain: row.subjectChain as unknown as readonly SubjectFrame[],
    actions: continuations.map(({ action }) => action),
  });
}

/** WHY the first: the wire form has one; all of them are in the digest. */
function resumeOf(continuations: readonly ContinuationRow[]): Resume {
  const first = continuations.find((continuation) => continuation.action !== null);
  if (first === undefined) return null;
  return { action: first.action, context: first.sealedContext === null ? null : "encrypted" } as Resume;
}
