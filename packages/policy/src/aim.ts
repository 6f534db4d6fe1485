/**
 * Where a question aims. The same resource may be named in several ways (an address for a name, a path for a
 * program); what may allow is compared with the narrow list, what restricts with the wide one.
 */
import { type Access, type Host, type Target, isIpLiteral, isLocalAddress, pairIndex, withHost } from "@sallyport/contract";
import type { Owner, Side } from "./pattern-table.ts";
import { Probe } from "./probe.ts";
import type { Question } from "./question.ts";
import type { Snapshot } from "./snapshot.ts";

export const ALIASES_MAX = 64;

export interface Aim {
  pair: number;
  readonly probe: Probe;
}

export interface Aims {
  readonly allow: readonly Aim[];
  readonly restrict: readonly Aim[];
  /** The two lists hold two forms of one executable, and a denial on either blocks. */
  readonly isTwin: boolean;
}

export function takeAim(snapshot: Snapshot, access: Access, question: Question): Aims {
  const key = snapshot.table.hashKey;
  const { ownAim: own, ownAims } = snapshot;
  own.pair = pairIndex(access.resourceType, access.operation);
  own.probe.aim(access.target, key);
  if (question.address === undefined && question.aliases === undefined && question.twin === undefined) return ownAims;
  const aimAt = (target: Target, pair: number): Aim => {
    const probe = new Probe();
    probe.aim(target, key);
    return { pair, probe };
  };
  const { target } = access;
  if (access.resourceType === "network") {
    return target.form === "url" || target.form === "endpoint"
      ? aimAtHosts(own, target.host, question, (host) => aimAt(withHost(target, host), own.pair))
      : ownAims;
  }
  const { twin } = question;
  if (twin === undefined || !isTwin(access, twin)) return ownAims;
  const both = [own, aimAt(twin.target, pairIndex(twin.resourceType, twin.operation))];
  return { allow: access.resourceType === "system_dependency" ? both : [own], restrict: both, isTwin: true };
}

/** The aim of a plain question; a snapshot keeps one and uses it again for every check. */
export function makeOwnAims(): { readonly ownAim: Aim; readonly ownAims: Aims } {
  const ownAim: Aim = { pair: -1, probe: new Probe() };
  const only = [ownAim];
  return { ownAim, ownAims: { allow: only, restrict: only, isTwin: false } };
}

/** The first value of an owner that covers one of the aims and would allow. */
export function findAllowing<T>(
  snapshot: Snapshot,
  owner: Owner<T> | undefined,
  aims: readonly Aim[],
  accept?: (value: T) => boolean,
): T | undefined {
  return findAimed(snapshot, owner, aims, "allow", accept);
}

/** The first value of an owner that covers one of the aims and would restrict. */
export function findRestricting<T>(
  snapshot: Snapshot,
  owner: Owner<T> | undefined,
  aims: readonly Aim[],
  accept?: (value: T) => boolean,
): T | undefined {
  return findAimed(snapshot, owner, aims, "restrict", accept);
}

function findAimed<T>(
  snapshot: Snapshot,
  owner: Owner<T> | undefined,
  aims: readonly Aim[],
  side: Side,
  accept: ((value: T) => boolean) | undefined,
): T | undefined {
  if (owner === undefined || owner.size === 0) return undefined;
  for (const aim of aims) {
    const found = snapshot.table.find(owner, aim.pair, aim.probe, side, accept);
    if (found !== undefined) return found;
  }
  return undefined;
}

function aimAtHosts(own: Aim, host: Host, question: Question, aimAt: (host: Host) => Aim): Aims {
  if (isIpLiteral(host)) {
    const others = (question.aliases ?? []).slice(0, ALIASES_MAX).map(aimAt);
    const all = [own, ...others];
    // INVARIANT: a name never opens a local address; only a rule that names the address does.
    return { allow: isLocalAddress(host) ? [own] : all, restrict: all, isTwin: false };
  }
  if (question.address === undefined) return { allow: [own], restrict: [own], isTwin: false };
  const address = aimAt(question.address);
  return { allow: [isLocalAddress(question.address) ? address : own], restrict: [own, address], isTwin: false };
}

function isTwin(access: Access, twin: Access): boolean {
  if (access.operation !== "execute" || twin.operation !== "execute") return false;
  return access.resourceType === "filesystem"
    ? twin.resourceType === "system_dependency"
    : twin.resourceType === "filesystem";
}
