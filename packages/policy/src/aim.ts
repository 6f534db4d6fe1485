/**
 * Where a question aims. The same resource may be named in several ways (an address for a name, a path for a
 * program); what may allow is compared with the narrow list, what restricts with the wide one.
 */
import {
  type Access,
  type Host,
  type Target,
  isIpLiteral,
  isLocalAddress,
  pairIndex,
  withHost,
} from "@sallyport/contract";
import type { Owner, PatternTable, Side } from "./pattern-table.ts";
import { Probe } from "./probe.ts";
import type { Question } from "./question.ts";

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

/** Aims at targets through one table. Its scratch is used again for every check, and belongs to the one under way. */
export class Aimer {
  readonly #table: PatternTable;
  readonly #own: Aim = { pair: -1, probe: new Probe() };
  readonly #ownAims: Aims = { allow: [this.#own], restrict: [this.#own], isTwin: false };

  constructor(table: PatternTable) {
    this.#table = table;
  }

  /** A hash of the target that was last aimed at. */
  get targetHash(): number {
    return this.#own.probe.hash;
  }

  take(access: Access, question: Question): Aims {
    const own = this.#own;
    own.pair = pairIndex(access.resourceType, access.operation);
    own.probe.aim(access.target, this.#table.hashKey);
    const isPlain =
      question.address === undefined && question.aliases === undefined && question.twin === undefined;
    return isPlain ? this.#ownAims : this.#takeMore(access, question);
  }

  /** The first value of an owner that covers one of the aims and would allow. */
  findAllowing<T>(
    owner: Owner<T> | undefined,
    aims: readonly Aim[],
    accept?: (value: T) => boolean,
  ): T | undefined {
    return this.#find(owner, aims, "allow", accept);
  }

  /** The first value of an owner that covers one of the aims and would restrict. */
  findRestricting<T>(
    owner: Owner<T> | undefined,
    aims: readonly Aim[],
    accept?: (value: T) => boolean,
  ): T | undefined {
    return this.#find(owner, aims, "restrict", accept);
  }

  #find<T>(
    owner: Owner<T> | undefined,
    aims: readonly Aim[],
    side: Side,
    accept: ((value: T) => boolean) | undefined,
  ): T | undefined {
    if (owner === undefined || owner.size === 0) return undefined;
    for (const aim of aims) {
      const found = this.#table.find(owner, aim.pair, aim.probe, side, accept);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #takeMore(access: Access, question: Question): Aims {
    const { target } = access;
    if (target.form === "url" || target.form === "endpoint") {
      const { pair } = this.#own;
      return this.#aimAtHosts(target.host, question, (host) => this.#aimAt(withHost(target, host), pair));
    }
    const { twin } = question;
    if (twin === undefined) return this.#ownAims;
    const both = [this.#own, this.#aimAt(twin.target, pairIndex(twin.resourceType, twin.operation))];
    return { allow: isAllowedByPath(access, twin) ? both : [this.#own], restrict: both, isTwin: true };
  }

  #aimAtHosts(host: Host, { address, aliases = [] }: Question, aimAt: (host: Host) => Aim): Aims {
    const own = this.#own;
    const dialled = address === undefined ? [] : [aimAt(address)];
    const named = aliases.slice(0, ALIASES_MAX).map(aimAt);
    const restrict = [own, ...dialled, ...named];
    // INVARIANT: a name never opens a local address; only a rule that names the address does.
    if (isIpLiteral(host))
      return { allow: isLocalAddress(host) ? [own] : [own, ...named], restrict, isTwin: false };
    const isRebound = address !== undefined && isLocalAddress(address);
    return { allow: isRebound ? dialled : [own], restrict, isTwin: false };
  }

  #aimAt(target: Target, pair: number): Aim {
    const probe = new Probe();
    probe.aim(target, this.#table.hashKey);
    return { pair, probe };
  }
}

/** A program by name may be allowed by its path; a program by path is never allowed by its name. */
function isAllowedByPath(access: Access, twin: Access): boolean {
  const isPath = twin.resourceType === "filesystem" && twin.operation === "execute";
  return access.resourceType === "system_dependency" && isPath;
}
