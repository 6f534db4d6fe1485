/**
 * What an allowed network access was observed to go to, and the word to a running OS sandbox that it may pass.
 * Must never change an answer: whoever listens and fails is the host's to look after.
 */
import type { ExternalAccessCheck, NetworkTarget } from "@sallyport/contract";
import { type Ask, isAccess, sessionOf } from "./caller-context.ts";
import type { Judged } from "./judge.ts";
import type { NetworkAllowed, NodeParts } from "./node-parts.ts";

/** The endpoint that is dialled, with its address where that is known; `null` where it is no network access. */
export function observedTarget({ access, address }: Pick<Ask, "access" | "address">): string | null {
  if (!isAccess(access) || access.resourceType !== "network") return null;
  const target: NetworkTarget = access.target;
  if (target.form === "unix") return target.text;
  const host = address ?? target.host;
  return target.port === undefined ? host : `${host}:${target.port}`;
}

export function tellNetworkAllowed(
  { networkAllowed, faulted }: NodeParts,
  { ask, subject, caller }: Judged,
  check: ExternalAccessCheck,
): void {
  const { access, address } = ask;
  if (networkAllowed === undefined || !isAccess(access) || access.resourceType !== "network") return;
  const allowed: NetworkAllowed = Object.freeze({
    decisionId: check.decision.id,
    subject,
    access,
    address: address ?? null,
    session: Object.freeze(sessionOf(caller)),
  });
  try {
    networkAllowed(allowed);
  } catch (error) {
    faulted(error);
  }
}
