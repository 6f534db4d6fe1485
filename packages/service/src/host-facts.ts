/**
 * What the host stated and a view that is made anew needs again: built-in denies, contracts, registrations, each as it
 * stands now. Holds no history: a contract that was for one call is gone when it is.
 */
import type { Subject } from "@sallyport/contract";
import type { Change } from "@sallyport/policy";

export type HostChange = Extract<
  Change,
  { readonly kind: `contract_${string}` | `subject_${string}` | "builtin_set" }
>;
type Named = Map<string, HostChange>;

export class HostFacts {
  readonly #builtins: HostChange[] = [];
  readonly #contracts: Named = new Map();
  readonly #subjects = new Map<Subject["type"], Named>();

  take(change: HostChange): void {
    switch (change.kind) {
      case "builtin_set":
        this.#builtins.push(change);
        return;
      case "contract_set":
        this.#contracts.set(change.contract.id, change);
        return;
      case "contract_removed":
        this.#contracts.delete(change.id);
        return;
      case "subject_registered":
        this.#namesOf(change.registration.subject).set(change.registration.subject.name, change);
        return;
      case "subject_unregistered":
        this.#namesOf(change.subject).delete(change.subject.name);
    }
  }

  *[Symbol.iterator](): Iterator<HostChange> {
    yield* this.#builtins;
    yield* this.#contracts.values();
    for (const names of this.#subjects.values()) yield* names.values();
  }

  #namesOf({ type }: Subject): Named {
    let names = this.#subjects.get(type);
    if (names === undefined) this.#subjects.set(type, (names = new Map()));
    return names;
  }
}
