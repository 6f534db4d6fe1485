/** A row of the chain with its columns, as the store keeps it. */
import type { EventRow as StoredEvent } from "@sallyport/store";
import type { UnchainedEvent } from "./access-events.ts";
import type { EventRow } from "./audit/event-chain.ts";
import { bytesOfHex } from "./audit/stored-chain.ts";

/** `prevHash`: the bytes of the row's `previousHash`, which whoever chains rows has already. */
export function storedEvent(
  row: EventRow,
  columns: UnchainedEvent["columns"],
  prevHash: Uint8Array,
): StoredEvent {
  // WHY spelled out: spreading the columns costs as much as hashing the row.
  return {
    node: row.node,
    seq: row.seq,
    timeMs: columns.timeMs,
    type: columns.type,
    subjectType: columns.subjectType,
    subjectName: columns.subjectName,
    resourceType: columns.resourceType,
    operation: columns.operation,
    target: keepable(columns.target),
    organizationId: columns.organizationId,
    userId: columns.userId,
    sessionKey: keepable(columns.sessionKey),
    taskId: keepable(columns.taskId),
    requestId: columns.requestId,
    decision: columns.decision,
    decisionSource: columns.decisionSource,
    code: columns.code,
    body: row.body,
    prevHash,
    hash: bytesOfHex(row.hash),
  };
}

/** WHY: a column is only searched by; what no store can keep must not keep the event out of the log. */
function keepable(text: string | null): string | null {
  if (text === null) return null;
  const wellFormed = (text as string & { toWellFormed(): string }).toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\\u0000") : wellFormed;
}
