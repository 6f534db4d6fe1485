/**
 * Records of the store that are held in memory, so that a call of somebody who is signed in asks no store. Trusts the
 * service for how long that may be: what was read is forgotten with the next revision, and taking a record back is not
 * acknowledged before every node has heard of it.
 * INVARIANT: nothing is held that was not there, and nothing while this node cannot vouch for what it holds.
 */
import type { Overview } from "@sallyport/service";
import type { RecordKind, RecordRow } from "@sallyport/store";

const HELD_MAX = 10_000;

export class HeldRecords {
  readonly #overview: Pick<Overview, "readRecords" | "standing">;
  readonly #kind: RecordKind;
  readonly #rows = new Map<string, RecordRow>();
  #standing: number | null = null;

  constructor(overview: Pick<Overview, "readRecords" | "standing">, kind: RecordKind) {
    this.#overview = overview;
    this.#kind = kind;
  }

  /** At once where it is held. */
  get(id: string): RecordRow | Promise<RecordRow | null> {
    return this.#vouched()?.get(id) ?? this.read(id);
  }

  /** From the store, whatever is held. */
  async read(id: string): Promise<RecordRow | null> {
    // INVARIANT: asked before the store is, so that what is taken back meanwhile is not held as if it stood.
    const standing = this.#overview.standing();
    const row = await this.#overview.readRecords((records) => records.get(this.#kind, id));
    const held = this.#vouched();
    if (held !== undefined && standing === this.#standing) {
      if (row === null) held.delete(id);
      else {
        if (held.size >= HELD_MAX) held.clear();
        held.set(id, row);
      }
    }
    return row;
  }

  forget(id: string): void {
    this.#rows.delete(id);
  }

  /** What is held, where it may be gone by. */
  #vouched(): Map<string, RecordRow> | undefined {
    const standing = this.#overview.standing();
    if (standing !== this.#standing) this.#rows.clear();
    this.#standing = standing;
    return standing === null ? undefined : this.#rows;
  }
}
