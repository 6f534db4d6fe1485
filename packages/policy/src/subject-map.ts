/**
 * Values by subject, type and name kept apart: there is no joined key.
 */
import type { Subject, SubjectName, SubjectType } from "@sallyport/contract";
import { nested } from "./nested.ts";

export class SubjectMap<V> {
  readonly #byType = new Map<SubjectType, Map<SubjectName, V>>();

  get(subject: Subject): V | undefined {
    return this.#byType.get(subject.type)?.get(subject.name);
  }

  getOrMake(subject: Subject, make: () => V): V {
    const byName = nested(this.#byType, subject.type, () => new Map<SubjectName, V>());
    return nested(byName, subject.name, make);
  }

  set(subject: Subject, value: V): void {
    this.delete(subject);
    this.getOrMake(subject, () => value);
  }

  delete(subject: Subject): void {
    const byName = this.#byType.get(subject.type);
    byName?.delete(subject.name);
    if (byName?.size === 0) this.#byType.delete(subject.type);
  }
}
