/**
 * The facts that decisions are made from, indexed. Kept current one change at a time; every change that takes effect
 * raises the revision. Trusts its caller to be the host: it checks that facts make sense, not who states them.
 */
import {
  type Fault,
  type Parsed,
  type Pattern,
  type UrlParser,
  fault,
  ok,
  pairIndex,
  parsePattern,
  parseTarget,
  patternOf,
} from "@sallyport/contract";
import { Aimer } from "./aim.ts";
import type { Change } from "./change.ts";
import { Layer } from "./layer.ts";
import { type Owner, PatternTable } from "./pattern-table.ts";
import type {
  AccessRule,
  Approval,
  BuiltinDeny,
  Contract,
  Denial,
  HostRule,
  Registration,
} from "./question.ts";
import { RuleBook } from "./rule-book.ts";
import type { HashSeed } from "./seeded-hash.ts";
import { SeenFilter } from "./seen-filter.ts";
import { SessionMap } from "./session-map.ts";
import { SubjectMap } from "./subject-map.ts";

export interface SnapshotOptions {
  /** Secret; drawn by the host at start. */
  readonly seed: HashSeed;
  readonly parseUrl: UrlParser;
}

/** A contract in the index; its values are positions in its access list. */
export interface IndexedContract {
  readonly contract: Contract;
  readonly owner: Owner<number>;
}

interface Stored<T> {
  readonly value: T;
  readonly owner: Owner<T>;
  readonly pair: number;
  readonly pattern: Pattern;
}

export class Snapshot {
  readonly table: PatternTable;
  readonly aimer: Aimer;
  readonly seen = new SeenFilter();
  readonly contracts = new Map<string, IndexedContract>();
  readonly registrations = new SubjectMap<Registration>();
  readonly builtins: Layer<BuiltinDeny>;
  readonly denyRules: RuleBook;
  readonly askRules: RuleBook;
  readonly allowRules: RuleBook;
  readonly permanent: Layer<Approval>;
  readonly denials: Layer<Denial>;
  readonly sessions = new SessionMap();
  readonly #parseUrl: UrlParser;
  readonly #rules = new Map<string, Stored<HostRule>>();
  readonly #approvals = new Map<string, Stored<Approval>>();
  readonly #denials = new Map<string, Stored<Denial>>();
  #revision = 0;
  #contexts = 0;

  constructor(options: SnapshotOptions) {
    this.#parseUrl = options.parseUrl;
    this.table = new PatternTable(options.seed);
    this.aimer = new Aimer(this.table);
    this.builtins = new Layer(this.table);
    this.denyRules = new RuleBook(this.table);
    this.askRules = new RuleBook(this.table);
    this.allowRules = new RuleBook(this.table);
    this.permanent = new Layer(this.table);
    this.denials = new Layer(this.table);
  }

  get revision(): number {
    return this.#revision;
  }

  /** A number that tells contexts apart where they share scratch. */
  newContextNumber(): number {
    return ++this.#contexts;
  }

  /** Takes one change whole or, where it has a fault, not at all. */
  apply(change: Change): Parsed<undefined> {
    const problem = this.#take(change);
    if (problem !== undefined) return problem;
    this.#revision++;
    return ok(undefined);
  }

  #take(change: Change): Fault | undefined {
    switch (change.kind) {
      case "contract_set":
        return this.#setContract(change.contract);
      case "contract_removed":
        return this.#removeContract(change.id);
      case "subject_registered":
        this.registrations.set(change.registration.subject, change.registration);
        return undefined;
      case "subject_unregistered":
        this.registrations.delete(change.subject);
        return undefined;
      case "builtin_set":
        return this.#setBuiltin(change.builtin);
      case "rule_set":
        return this.#setRule(change.rule);
      case "rule_removed":
        return this.#drop(this.#rules, change.id);
      case "approval_set":
        return this.#setApproval(change.approval);
      case "approval_removed":
        return this.#dropApproval(change.id);
      case "denial_set":
        return this.#setDenial(change.denial);
      case "denial_removed":
        return this.#drop(this.#denials, change.id);
      case "session_ended": {
        for (const id of this.sessions.get(change)?.approvalIds ?? []) this.#drop(this.#approvals, id);
        this.sessions.delete(change);
        return undefined;
      }
      default:
        // WHY: changes also arrive from a wire, where a newer peer may know more kinds.
        change satisfies never;
        return fault("invalid_operation", "kind", "unknown kind of change");
    }
  }

  #setContract(contract: Contract): Fault | undefined {
    const patterns: Pattern[] = [];
    for (const rule of contract.access) {
      const parsed = this.#pattern(rule);
      if (!parsed.ok) return parsed;
      patterns.push(parsed.value);
    }
    this.#removeContract(contract.id);
    const owner = this.table.newOwner<number>();
    patterns.forEach((pattern, index) => {
      this.table.insert(owner, pairOf(contract.access[index] as AccessRule), pattern, index);
    });
    this.contracts.set(contract.id, { contract, owner });
    return undefined;
  }

  /** WHY: patterns are parsed again rather than kept, since contracts are large and seldom go. */
  #removeContract(id: string): undefined {
    const indexed = this.contracts.get(id);
    if (indexed === undefined) return;
    this.contracts.delete(id);
    indexed.contract.access.forEach((rule, index) => {
      const parsed = this.#pattern(rule);
      if (parsed.ok) this.table.remove(indexed.owner, pairOf(rule), parsed.value, index);
    });
  }

  #setBuiltin(builtin: BuiltinDeny): Fault | undefined {
    const parsed = this.#pattern(builtin);
    if (!parsed.ok) return parsed;
    this.table.insert(this.builtins.everybody, pairOf(builtin), parsed.value, builtin);
    return undefined;
  }

  #setRule(rule: HostRule): Fault | undefined {
    if (rule.effect === "allow" && rule.source !== "host") {
      return fault("invalid_operation", "effect", `a rule of source \`${rule.source}\` may only deny or ask`);
    }
    if (rule.sessionKey === "") {
      return fault("invalid_operation", "session_key", "an empty session key is none: leave it out");
    }
    const parsed = this.#pattern(rule);
    if (!parsed.ok) return parsed;
    const books = { deny: this.denyRules, ask: this.askRules, allow: this.allowRules };
    return this.#store(this.#rules, rule, books[rule.effect].ownerFor(rule), pairOf(rule), parsed.value);
  }

  #setApproval(approval: Approval): Fault | undefined {
    const parsed = this.#pattern(approval);
    if (!parsed.ok) return parsed;
    const { scope, sessionKey } = approval;
    if (scope === "session" && !sessionKey) {
      return fault("invalid_operation", "session_key", "a session approval needs a session key");
    }
    this.#dropApproval(approval.id);
    const owner =
      scope === "session" ? this.#sessionOwner(approval) : this.permanent.ownerFor(approval.subject);
    return this.#store(this.#approvals, approval, owner, pairOf(approval), parsed.value);
  }

  #sessionOwner(approval: Approval): Owner<Approval> {
    const node = this.sessions.getOrMake(approval, approval.sessionKey as string);
    node.approvalIds.add(approval.id);
    return node.owners.getOrMake(approval.subject, () => this.table.newOwner());
  }

  #dropApproval(id: string): undefined {
    const stored = this.#approvals.get(id);
    if (stored !== undefined) this.sessions.get(stored.value)?.approvalIds.delete(id);
    this.#drop(this.#approvals, id);
  }

  #setDenial(denial: Denial): Fault | undefined {
    const parsed = this.#pattern(denial);
    if (!parsed.ok) return parsed;
    return this.#store(
      this.#denials,
      denial,
      this.denials.ownerFor(denial.subject),
      pairOf(denial),
      parsed.value,
    );
  }

  #store<T extends { readonly id: string }>(
    byId: Map<string, Stored<T>>,
    value: T,
    owner: Owner<T>,
    pair: number,
    pattern: Pattern,
  ): undefined {
    this.#drop(byId, value.id);
    byId.set(value.id, { value, owner, pair, pattern });
    this.table.insert(owner, pair, pattern, value);
  }

  #drop<T>(byId: Map<string, Stored<T>>, id: string): undefined {
    const stored = byId.get(id);
    if (stored === undefined) return;
    byId.delete(id);
    this.table.remove(stored.owner, stored.pair, stored.pattern, stored.value);
  }

  /** WHY: a declaration says by its spelling how wide it is; whatever carries a match says so by that. */
  #pattern(rule: AccessRule | Approval | Denial): Parsed<Pattern> {
    if (pairOf(rule) < 0) {
      return fault("invalid_operation", "operation", "resource type and operation do not belong together");
    }
    if (rule.match === undefined) return parsePattern(rule.resourceType, rule.target, this.#parseUrl);
    const target = parseTarget(rule.resourceType, rule.target, this.#parseUrl);
    return target.ok ? patternOf(target.value, rule.match) : target;
  }
}

function pairOf(rule: { readonly resourceType: string; readonly operation: string }): number {
  return pairIndex(rule.resourceType, rule.operation);
}
