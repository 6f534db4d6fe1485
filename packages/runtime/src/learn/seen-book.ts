/**
 * What a program was seen to need, by type, operation and target, each with a count and where it first came from. Bounded:
 * past that it says that there was more. Trusts nobody for the texts; it allows nothing.
 */

/** One access that was asked about, however often. */
export interface SeenAccess {
  readonly resourceType: string;
  readonly operation: string;
  /** Normalized. */
  readonly target: string;
  readonly count: number;
  /** Where in the program, or by which call of the kernel, it came first; `null` where nobody said. */
  readonly evidence: string | null;
}

export interface SeenImport {
  readonly name: string;
  readonly count: number;
  readonly evidence: string | null;
}

export interface Seen {
  readonly access: readonly SeenAccess[];
  readonly imports: readonly SeenImport[];
  /** More than could be kept. */
  readonly isCut: boolean;
}

export const SEEN_MAX = 10_000;

interface Count {
  count: number;
  readonly evidence: string | null;
}
type ByTarget = Map<string, Count>;

export class SeenBook {
  readonly #access = new Map<string, Map<string, ByTarget>>();
  readonly #imports = new Map<string, Count>();
  #size = 0;
  #isCut = false;

  addAccess(
    { resourceType, operation, target }: Pick<SeenAccess, "resourceType" | "operation" | "target">,
    evidence: string | undefined,
  ): void {
    const byOperation = taken(this.#access, resourceType, () => new Map<string, ByTarget>());
    this.#count(
      taken(byOperation, operation, (): ByTarget => new Map()),
      target,
      evidence,
    );
  }

  addImport(name: string, evidence: string | undefined): void {
    this.#count(this.#imports, name, evidence);
  }

  seen(): Seen {
    const access: SeenAccess[] = [];
    for (const [resourceType, byOperation] of this.#access)
      for (const [operation, byTarget] of byOperation)
        for (const [target, { count, evidence }] of byTarget)
          access.push({ resourceType, operation, target, count, evidence });
    const imports = [...this.#imports].map(([name, { count, evidence }]) => ({ name, count, evidence }));
    return { access, imports, isCut: this.#isCut };
  }

  #count(held: Map<string, Count>, key: string, evidence: string | undefined): void {
    const known = held.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    if (this.#size >= SEEN_MAX) {
      this.#isCut = true;
      return;
    }
    this.#size += 1;
    held.set(key, { count: 1, evidence: evidence ?? null });
  }
}

function taken<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
