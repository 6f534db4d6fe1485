/**
 * The way of the registry's changes into the policy, and of its events to the host. Several changes are taken all or,
 * where one fails, none. Must never let a listener or a failing policy leave the registry half changed.
 */
import { ownField } from "./host-input.ts";
import type { RegistryChange, RegistryEvent } from "./registry-answer.ts";

export interface PolicyLinkOptions {
  /** Throws where the change was not taken. */
  readonly apply: (change: RegistryChange) => void;
  readonly onEvent?: ((event: RegistryEvent) => void) | undefined;
}

export class PolicyLink {
  readonly #apply: (change: RegistryChange) => void;
  readonly #onEvent: ((event: RegistryEvent) => void) | undefined;

  constructor(options: PolicyLinkOptions) {
    this.#apply = options.apply;
    this.#onEvent = ownField(options, "onEvent");
  }

  /** `undo`: what takes back all of it, should a part fail. */
  applyAll(changes: readonly RegistryChange[], undo: readonly RegistryChange[] = []): boolean {
    for (const change of changes) {
      if (this.#take(change)) continue;
      for (const back of undo) this.#take(back);
      return false;
    }
    return true;
  }

  tell(event: RegistryEvent): void {
    try {
      this.#onEvent?.(Object.freeze(event));
    } catch {
      // WHY: the change has happened; a listener that fails must not make it look as if it had not.
    }
  }

  #take(change: RegistryChange): boolean {
    try {
      this.#apply(change);
      return true;
    } catch {
      this.tell({ kind: "change_failed", change: change.kind });
      return false;
    }
  }
}
