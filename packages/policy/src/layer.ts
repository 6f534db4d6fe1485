/**
 * Patterns with one meaning: everybody's, and those of single subjects.
 */
import type { Subject } from "@sallyport/contract";
import type { Owner, PatternTable } from "./pattern-table.ts";
import { SubjectMap } from "./subject-map.ts";

export class Layer<T> {
  readonly everybody: Owner<T>;
  readonly subjects = new SubjectMap<Owner<T>>();
  readonly #table: PatternTable;

  constructor(table: PatternTable) {
    this.#table = table;
    this.everybody = table.newOwner();
  }

  ownerFor(subject: Subject | undefined): Owner<T> {
    return subject === undefined
      ? this.everybody
      : this.subjects.getOrMake(subject, () => this.#table.newOwner());
  }
}
