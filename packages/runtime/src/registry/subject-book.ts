/**
 * Values by subject, type and name kept apart: there is no joined key. In the order in which they came.
 */
import type { Subject, SubjectName, SubjectType } from "@sallyport/contract";

export class SubjectBook<V> {
  readonly #byType = new Map<SubjectType, Map<SubjectName, V>>();

  get(subject: Subject): V | undefined {
    return this.#byType.get(subject.type)?.get(subject.name);
  }

  set(subject: Subject, value: V): void {
    const byName = this.#byType.get(subject.type) ?? new Map<SubjectName, V>();
    this.#byType.set(subject.type, byName);
    byName.set(subject.name, value);
  }

  delete(subject: Subject): void {
    this.#byType.get(subject.type)?.delete(subject.name);
  }

  *values(): Generator<V> {
    for (const byName of this.#byType.values()) yield* byName.values();
  }
}
