/** A row of the chain with its columns, as the store keeps it. */
import type { EventRow as StoredEvent } from "@sallyport/store";
import type { UnchainedEvent } from "./access-events.ts";
import type { EventRow } from "./audit/event-chain.ts";
import { bytesOfHex } from "./audit/stored-chain.ts";

export function storedEvent(row: EventRow, columns: UnchainedEvent["columns"]): StoredEvent {
  return {
    ...columns,
    target: keepable(columns.target),
    sessionKey: keepable(columns.sessionKey),
    taskId: keepable(columns.taskId),
    node: row.node,
    seq: row.seq,
    body: row.body,
    prevHash: bytesOfHex(row.previousHash),
    hash: bytesOfHex(row.hash),
  };
}

/** WHY: a column is only searched by; what no store can keep must not keep the event out of the log. */
function keepable(text: string | null): string | null {
  if (text === null) return null;
  const wellFormed = (text as string & { toWellFormed(): string }).toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\\u0000") : wellFormed;
}
