/**
 * What a node holds of the store in memory: the policy snapshot, and beside it what answers and records say about
 * rules, decisions and settings. Made whole from one moment of the store, then moved on fact by fact.
 * INVARIANT: a restricting fact that cannot be indexed makes the node unsound, never looser.
 */
import type { Fault, PermissionMode, PermissionState, PolicySource } from "@sallyport/contract";
import { type Change, Snapshot, type SnapshotOptions } from "@sallyport/policy";
import type { ApprovalRow, DenialRow, Json, RuleRow, SettingRow, StoreReader } from "@sallyport/store";
import type { ChangedFact } from "./change-body.ts";
import { approvalFact, denialFact, ruleFact } from "./policy-rows.ts";

const PAGE_LIMIT = 1000;
/** As many as a list of references holds on the wire. */
const RULES_MAX = 1000;

/** What a record says about the approval or denial that decided. */
export interface DecisionFact {
  readonly actionId: string;
  readonly scope: ApprovalRow["scope"] | null;
  readonly expiresAtMs: number | null;
}

/** What records say about a rule, and whom it can meet. */
export type RuleFact = Pick<
  RuleRow,
  "id" | "source" | "subject" | "organizationId" | "userId" | "sessionKey"
>;

/** A fact as it stands in the store now; `null` where it is gone. */
export type CurrentFact =
  | { readonly kind: "approval"; readonly id: string; readonly row: ApprovalRow | null }
  | { readonly kind: "denial"; readonly id: string; readonly row: DenialRow | null }
  | { readonly kind: "rule"; readonly id: string; readonly row: RuleRow | null }
  | { readonly kind: "setting"; readonly id: string; readonly row: SettingRow | null }
  | Extract<ChangedFact, { readonly kind: "session_ended" }>;

export async function readFact(tx: StoreReader, fact: ChangedFact): Promise<CurrentFact> {
  switch (fact.kind) {
    case "approval":
      return { kind: fact.kind, id: fact.id, row: await tx.approvals.get(fact.id) };
    case "denial":
      return { kind: fact.kind, id: fact.id, row: await tx.denials.get(fact.id) };
    case "rule":
      return { kind: fact.kind, id: fact.id, row: await tx.rules.get(fact.id) };
    case "setting":
      return { kind: fact.kind, id: fact.id, row: await tx.settings.get(fact.id) };
    case "session_ended":
      return fact;
  }
}

export class HeldFacts {
  readonly snapshot: Snapshot;
  readonly #decisions = new Map<string, DecisionFact>();
  readonly #rules = new Map<string, RuleFact>();
  readonly #settings = new Map<string, Json>();
  /** INVARIANT: emptied whenever a rule comes or goes. */
  readonly #states = new Map<PermissionMode, PermissionState>();
  readonly #interactiveStates = new Map<PermissionMode, PermissionState>();
  /** False: a restricting fact could not be taken. */
  sound = true;

  constructor(options: SnapshotOptions, hostFacts: Iterable<Change>) {
    this.snapshot = new Snapshot(options);
    for (const change of hostFacts) this.applyHost(change);
  }

  /** A fact of the host: contracts, registrations, built-in denies. The fault where it was not taken. */
  applyHost(change: Change): Fault | undefined {
    const taken = this.snapshot.apply(change);
    if (taken.ok) return undefined;
    if (change.kind === "builtin_set") this.sound = false;
    return taken;
  }

  /** Reads everything in one moment of the store. */
  async load(tx: StoreReader): Promise<void> {
    for (let after = null; ;) {
      const page = await tx.approvals.list({}, { limit: PAGE_LIMIT, order: "oldest", after });
      for (const row of page.rows) this.take({ kind: "approval", id: row.id, row });
      if (page.next === null) break;
      after = page.next as never;
    }
    for (let after = null; ;) {
      const page = await tx.denials.list({}, { limit: PAGE_LIMIT, order: "oldest", after });
      for (const row of page.rows) this.take({ kind: "denial", id: row.id, row });
      if (page.next === null) break;
      after = page.next as never;
    }
    for (const row of await tx.rules.list()) this.take({ kind: "rule", id: row.id, row });
    for (const row of await tx.settings.list()) this.take({ kind: "setting", id: row.key, row });
  }

  take(fact: CurrentFact): void {
    switch (fact.kind) {
      case "approval":
        this.#takeApproval(fact.id, fact.row);
        return;
      case "denial":
        this.#takeDenial(fact.id, fact.row);
        return;
      case "rule":
        this.#takeRule(fact.id, fact.row);
        return;
      case "setting":
        if (fact.row === null) this.#settings.delete(fact.id);
        else this.#settings.set(fact.id, fact.row.value);
        return;
      case "session_ended":
        this.snapshot.apply(fact);
    }
  }

  decision(id: string): DecisionFact | undefined {
    return this.#decisions.get(id);
  }

  setting(key: string): Json | undefined {
    return this.#settings.get(key);
  }

  /** What an action stands under, as records say it. One value as long as no rule changes. */
  permissionState(mode: PermissionMode, isInteractive: boolean): PermissionState {
    const states = isInteractive ? this.#interactiveStates : this.#states;
    const known = states.get(mode);
    if (known !== undefined) return known;
    const sources = new Set<PolicySource>(["builtin", "manifest", "approval"]);
    for (const { source } of this.#rules.values()) sources.add(source);
    const rules = Array.from(this.#rules.keys()).slice(0, RULES_MAX);
    const state = Object.freeze<PermissionState>({
      mode,
      rules: Object.freeze(rules) as unknown as PermissionState["rules"],
      policySources: Object.freeze([...sources]),
      interactive: isInteractive,
    });
    states.set(mode, state);
    return state;
  }

  get rules(): Iterable<RuleFact> {
    return this.#rules.values();
  }

  #takeApproval(id: string, row: ApprovalRow | null): void {
    if (row === null) {
      this.#decisions.delete(id);
      this.snapshot.apply({ kind: "approval_removed", id });
      return;
    }
    const { actionId, scope, expiresAtMs } = row;
    this.#decisions.set(id, { actionId, scope, expiresAtMs });
    this.snapshot.apply({ kind: "approval_set", approval: approvalFact(row) });
  }

  #takeDenial(id: string, row: DenialRow | null): void {
    if (row === null) {
      this.#decisions.delete(id);
      this.snapshot.apply({ kind: "denial_removed", id });
      return;
    }
    this.#decisions.set(id, { actionId: row.actionId, scope: null, expiresAtMs: null });
    if (!this.snapshot.apply({ kind: "denial_set", denial: denialFact(row) }).ok) this.sound = false;
  }

  #takeRule(id: string, row: RuleRow | null): void {
    this.#states.clear();
    this.#interactiveStates.clear();
    if (row === null) {
      this.#rules.delete(id);
      this.snapshot.apply({ kind: "rule_removed", id });
      return;
    }
    const { source, subject, organizationId, userId, sessionKey } = row;
    this.#rules.set(id, { id, source, subject, organizationId, userId, sessionKey });
    const isTaken = this.snapshot.apply({ kind: "rule_set", rule: ruleFact(row) }).ok;
    if (!isTaken && row.effect !== "allow") this.sound = false;
  }
}
