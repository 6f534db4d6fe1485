/**
 * Reads for persons with authority: authority comes first, an attempt without it is on record, and what this node knows
 * and has not written yet is in reach of what is read.
 */
import type { EventFilter, StoreReader } from "@sallyport/store";
import { maskTarget } from "./audit/event-masking.ts";
import type { CallerContext } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";
import { requireAuthority } from "./require-authority.ts";

type Reading<T> = (tx: StoreReader) => Promise<T>;

export async function readAs<T>(parts: NodeParts, caller: CallerContext, work: Reading<T>): Promise<T> {
  await requireAuthority(parts, caller, "list");
  return parts.store.read(work);
}

/** WHY: an approver sees every repeat that this node knows of. A count that cannot be written hides no request. */
export async function readCounted<T>(parts: NodeParts, caller: CallerContext, work: Reading<T>): Promise<T> {
  await requireAuthority(parts, caller, "list");
  await parts.repeated.flush().catch(parts.faulted);
  return parts.store.read(work);
}

/** Everything that was recorded on this node before the call is in reach of it. */
export async function readRecorded<T>(parts: NodeParts, caller: CallerContext, work: Reading<T>): Promise<T> {
  await requireAuthority(parts, caller, "list");
  await parts.audit.flush();
  return parts.store.read(work);
}

/** WHY: the log holds targets masked, and masking is the same every time: whoever knows one finds it. */
export function shownFilter({ maskingKey }: NodeParts, filter: EventFilter): EventFilter {
  const { target, resourceType } = filter;
  if (target === undefined) return filter;
  const type = resourceType ?? (target.startsWith("/") ? "filesystem" : "network");
  return { ...filter, target: maskTarget(type, target, maskingKey) };
}
