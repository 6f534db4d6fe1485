/**
 * The rules that a sandbox is made from, as the gate tells them: what the subject declared, and what host policy keeps
 * back. Listens to everything that arrives, so that a rule which comes while a program runs is heard of at once.
 * Trusts the service for what it says; what is not understood gives nothing and keeps nothing back that the gate would not.
 */
import type { ExpandedRule, PermissionMode } from "@sallyport/contract";
import type { PrivateRealm } from "@sallyport/gate";

export interface HeldPolicy {
  readonly mode: PermissionMode;
  readonly allow: readonly ExpandedRule[];
  /** Deny and ask rules, and what nothing lifts. WHY no denials: what is declared comes before them. */
  readonly withheld: readonly ExpandedRule[];
}

interface HeldRule {
  readonly resourceType: ExpandedRule["resourceType"];
  readonly operation: string;
  readonly target: string;
  readonly match?: string | undefined;
}

type Change = Readonly<Record<string, unknown>> & { readonly kind?: unknown };

export class HeldRules {
  readonly #contracts = new Map<string, readonly HeldRule[]>();
  readonly #rules = new Map<string, HeldRule>();
  readonly #builtins = new Map<string, HeldRule>();
  #mode: PermissionMode;
  readonly #listeners = new Set<() => void>();

  constructor(changes: readonly unknown[], mode: PermissionMode) {
    this.#mode = mode;
    this.#take(changes);
  }

  /** Called with every change, approvals and denials included, before anything is decided by it. Ends the watch. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The realm of the broker, with this listening to what it is told. */
  listening(realm: PrivateRealm): PrivateRealm {
    return Object.freeze<PrivateRealm>({
      ...realm,
      apply: (changes) => {
        this.#take(JSON.parse(changes) as readonly unknown[]);
        this.#tell();
        return realm.apply(changes);
      },
      open: (context) => {
        const { mode } = JSON.parse(context) as { readonly mode: PermissionMode };
        if (mode !== this.#mode) {
          this.#mode = mode;
          this.#tell();
        }
        return realm.open(context);
      },
    });
  }

  policy(): HeldPolicy {
    const declared = [...this.#contracts.values()].flat().filter((rule) => holdsIn(this.#mode, rule));
    return Object.freeze({
      mode: this.#mode,
      allow: declared.map(expanded),
      withheld: [...this.#rules.values(), ...this.#builtins.values()].map(expanded),
    });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #take(changes: readonly unknown[]): void {
    for (const change of changes as readonly Change[]) {
      switch (change.kind) {
        case "contract_set": {
          const { id, access } = change["contract"] as {
            readonly id: string;
            readonly access: readonly HeldRule[];
          };
          this.#contracts.set(id, access);
          break;
        }
        case "contract_removed":
          this.#contracts.delete(change["id"] as string);
          break;
        case "rule_set": {
          const rule = change["rule"] as HeldRule & { readonly id: string; readonly effect: string };
          if (rule.effect === "allow") this.#rules.delete(rule.id);
          else this.#rules.set(rule.id, rule);
          break;
        }
        case "rule_removed":
          this.#rules.delete(change["id"] as string);
          break;
        case "builtin_set": {
          const rule = change["builtin"] as HeldRule & { readonly id: string };
          this.#builtins.set(rule.id, rule);
          break;
        }
        default:
          // What is approved or denied is asked of the gate each time.
          break;
      }
    }
  }
}

/** INVARIANT: where the mode asks about what is declared, nothing of it is granted without a question. */
function holdsIn(mode: PermissionMode, { resourceType, operation }: HeldRule): boolean {
  switch (mode) {
    case "untrusted":
    case "plan":
      return resourceType === "network" ? operation === "receive" : operation === "read";
    case "default":
    case "on_request":
    case "on_failure":
    case "never":
    case "bypass":
    case "auto":
      return true;
  }
}

function expanded({ resourceType, operation, target, match }: HeldRule): ExpandedRule {
  const isTree = match === "directory" && !target.endsWith("/");
  return Object.freeze({
    resourceType,
    operation,
    target: isTree ? `${target}/` : target,
    ...(match === "exact" ? { match } : {}),
  }) as ExpandedRule;
}
