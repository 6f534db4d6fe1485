/**
 * The facts that one child holds: contracts of its chain and of the subjects that it may run, built-in denies, rules for everybody and for its subjects,
 * its subjects' denials, and approvals that are permanent or of its own session. Not the world.
 * INVARIANT: a limited approval never travels; the child has to ask.
 */
import { type Subject, sameSubject } from "@sallyport/contract";
import { gateBounds as bounds } from "@sallyport/gate";
import type { BuiltinDeny, Change, Context, Contract, Frame } from "@sallyport/policy";
import type { StoreReader } from "@sallyport/store";
import { type CallerContext, sessionOf } from "../caller-context.ts";
import { approvalFact, denialFact, ruleFact } from "../policy-rows.ts";
import { concernsRule } from "../rule-concern.ts";

/** What the node holds by itself. */
export interface HeldByNode {
  readonly builtins: readonly BuiltinDeny[];
  contract(id: string): Contract | undefined;
}

export interface News {
  readonly changes: readonly Change[];
  /** They are on their way to the child. */
  readonly accept: () => void;
}

type Kind = "builtin" | "contract" | "rule" | "denial" | "approval";
type Held = ReadonlyMap<Kind, ReadonlyMap<string, Change>>;

/** Restrictions are put on before anything is given, and taken off after everything is taken away. */
const RANKS: readonly (readonly Change["kind"][])[] = [
  ["builtin_set", "approval_removed", "contract_removed", "denial_set", "rule_set"],
  ["contract_set", "approval_set", "denial_removed", "rule_removed"],
];

export class ChildFacts {
  readonly #caller: CallerContext;
  readonly #frames: readonly Frame[];
  readonly #subjects: readonly Subject[];
  #sent: Held = new Map();

  /** @param hosted frames of subjects that the child's program may run */
  constructor(caller: CallerContext, hosted: readonly Frame[] = []) {
    this.#caller = caller;
    this.#frames = [...caller.frames, ...hosted];
    this.#subjects = distinct(this.#frames.map(({ subject }) => subject));
  }

  /** What changed since what was accepted last; all of it the first time. One moment of the store. */
  async news(tx: StoreReader, node: HeldByNode): Promise<News> {
    const held = await this.#read(tx, node);
    const changes: Change[] = [];
    for (const [kind, facts] of held) {
      const before = this.#sent.get(kind) ?? new Map<string, Change>();
      for (const [id, change] of facts) if (!isEqual(before.get(id), change)) changes.push(change);
      for (const id of before.keys()) if (!facts.has(id)) changes.push(removal(kind, id));
    }
    return {
      changes: RANKS.flatMap((kinds) => changes.filter(({ kind }) => kinds.includes(kind))),
      accept: () => {
        this.#sent = held;
      },
    };
  }

  async #read(tx: StoreReader, node: HeldByNode): Promise<Held> {
    const session = sessionOf(this.#caller);
    const approvals = await tx.approvals.listForSubjects(
      this.#subjects,
      session.sessionKey === null ? null : session,
    );
    const denials = await tx.denials.listForSubjects(this.#subjects);
    const audience = { subjects: this.#subjects, session };
    const rules = (await tx.rules.list()).filter((rule) => concernsRule(rule, audience));
    const contracts = distinctTexts(this.#frames.flatMap((frame) => frame.contracts))
      .map((id) => node.contract(id))
      .filter((contract) => contract !== undefined);
    const unlimited = approvals.filter((row) => row.expiresAtMs === null && row.maxUses === null);
    return new Map<Kind, ReadonlyMap<string, Change>>([
      ["builtin", byId(node.builtins, (builtin) => ({ kind: "builtin_set", builtin }))],
      ["contract", byId(contracts, (contract) => ({ kind: "contract_set", contract }))],
      ["rule", byId(rules, (row) => ({ kind: "rule_set", rule: ruleFact(row) }))],
      ["denial", byId(denials, (row) => ({ kind: "denial_set", denial: denialFact(row) }))],
      ["approval", byId(unlimited, (row) => ({ kind: "approval_set", approval: approvalFact(row) }))],
    ]);
  }
}

/** The two contexts of a child, as the private realm takes them. */
export function contextTexts(context: Context): { readonly live: string; readonly fenced: string } {
  return {
    live: JSON.stringify({ ...context, live: true }),
    // WHY: set-up ends for good somewhere, and a child that cannot hear of it must not go on with it.
    fenced: JSON.stringify({ ...context, live: false, setup: false }),
  };
}

function removal(kind: Kind, id: string): Change {
  switch (kind) {
    case "contract":
      return { kind: "contract_removed", id };
    case "rule":
      return { kind: "rule_removed", id };
    case "denial":
      return { kind: "denial_removed", id };
    case "approval":
      return { kind: "approval_removed", id };
    case "builtin":
      throw new Error("a built-in deny is never taken away");
  }
}

function byId<T extends { readonly id: string }>(
  values: readonly T[],
  change: (value: T) => Change,
): ReadonlyMap<string, Change> {
  return new Map(values.map((value) => [value.id, change(value)]));
}

function isEqual(left: Change | undefined, right: Change): boolean {
  return left !== undefined && JSON.stringify(left) === JSON.stringify(right);
}

function distinct(subjects: readonly Subject[]): readonly Subject[] {
  return subjects.filter((one, index) => subjects.findIndex((other) => sameSubject(one, other)) === index);
}

function distinctTexts(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

/** JSON texts of the changes, in messages of a fair size; one message at least. */
export function partsOf(changes: readonly Change[]): readonly (readonly string[])[] {
  const parts: string[][] = [[]];
  let size = 0;
  for (const change of changes) {
    const text = JSON.stringify(change);
    if (size > 0 && size + text.length > bounds.FACTS_PART_BYTES) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(text);
    size += text.length;
  }
  return parts;
}
