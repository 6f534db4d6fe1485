/**
 * The word to a running OS sandbox that an allowed network access may pass.
 * Must never change an answer: whoever listens and fails is the host's to look after.
 */
import type { ExternalAccessCheck } from "@sallyport/contract";
import { isAccess, sessionOf } from "./caller-context.ts";
import type { Judged } from "./judge.ts";
import type { NetworkAllowed, NodeParts } from "./node-parts.ts";

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
