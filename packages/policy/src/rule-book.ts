/**
 * Rules of one effect by whom they hold for: an organization, a user and a session, each one of them or any. Which
 * rules concern a context is found once, when it is entered, however many hold for others.
 */
import type { Subject } from "@sallyport/contract";
import { Layer } from "./layer.ts";
import { nested } from "./nested.ts";
import type { Owner, PatternTable } from "./pattern-table.ts";
import type { Context, HostRule, PrincipalId } from "./question.ts";

/** `undefined`: any. No rule is kept under `null`, so a context that has none finds nothing there. */
type ByKey = Map<string | null | undefined, Layer<HostRule>>;
type ByUser = Map<PrincipalId | null | undefined, ByKey>;

export class RuleBook {
  readonly #table: PatternTable;
  readonly #byOrganization = new Map<PrincipalId | null | undefined, ByUser>();

  constructor(table: PatternTable) {
    this.#table = table;
  }

  ownerFor(rule: HostRule): Owner<HostRule> {
    const byUser = nested(this.#byOrganization, rule.organizationId, (): ByUser => new Map());
    const byKey = nested(byUser, rule.userId, (): ByKey => new Map());
    const layer = nested(byKey, rule.sessionKey, () => new Layer<HostRule>(this.#table));
    return layer.ownerFor(rule.subject);
  }

  /** Those that hold for the subject in this context. Owners without rules are left out. */
  ownersFor(context: Context, subject: Subject): readonly Owner<HostRule>[] {
    const owners: Owner<HostRule>[] = [];
    for (const organization of [undefined, context.organizationId]) {
      const byUser = this.#byOrganization.get(organization);
      for (const user of [undefined, context.userId]) {
        const byKey = byUser?.get(user);
        for (const key of [undefined, context.sessionKey]) {
          const layer = byKey?.get(key);
          if (layer === undefined) continue;
          for (const owner of [layer.subjects.get(subject), layer.everybody]) {
            if (owner !== undefined && owner.size > 0) owners.push(owner);
          }
        }
      }
    }
    return owners;
  }
}
