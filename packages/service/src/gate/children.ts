/**
 * The guarded children of this node, as far as they have to hear of a revision: each has confirmed it, or its lease
 * has run out. Knows nothing of sockets.
 */

/** INVARIANT: fenced means that the child itself no longer relies on what it holds. */
export interface Child {
  /** The revision up to which it has confirmed, or nothing concerned it. */
  readonly reached: number;
  readonly isFenced: boolean;
  /** Resolves when it has reached the revision or is fenced. */
  atLeast(revision: number): Promise<void>;
}

export class Children {
  readonly #children = new Set<Child>();
  readonly #listeners = new Set<() => void>();

  add(child: Child): void {
    this.#children.add(child);
  }

  /** Only for a child that is fenced. */
  remove(child: Child): void {
    this.#children.delete(child);
    this.moved();
  }

  get count(): number {
    return this.#children.size;
  }

  /** Resolves when no child relies on anything older. */
  async atLeast(revision: number): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.atLeast(revision)));
  }

  /** The revision that this node may confirm: its own, or the oldest that a child still relies on. */
  confirmable(revision: number): number {
    let lowest = revision;
    for (const child of this.#children) if (!child.isFenced) lowest = Math.min(lowest, child.reached);
    return lowest;
  }

  /** Called whenever what this node may confirm can have risen. */
  onMoved(listener: () => void): void {
    this.#listeners.add(listener);
  }

  moved(): void {
    for (const listener of this.#listeners) listener();
  }
}
