/**
 * What must hold of every decision, whatever the facts. Each property takes generated worlds, changes one thing,
 * and looks at what that does.
 */
import {
  type Access,
  type ResourceOperation,
  RESOURCE_OPERATIONS,
  type Subject,
  sameSubject,
} from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { ActiveContext } from "./active-context.ts";
import { decide } from "./decide.ts";
import type { Approval, Context, Denial, HostRule, Question } from "./question.ts";
import { type Case, type Random, makeCase, prng } from "./testing/arbitrary-world.ts";
import { caseCount } from "./testing/case-count.ts";
import { buildSnapshot } from "./testing/compare-with-reference.ts";
import type { World } from "./testing/reference-decide.ts";
import type { Verdict } from "./verdict.ts";

const CASES = caseCount(4_000) + 100;

function answer(world: World, context: Context, question: Question, random: Random): Verdict {
  return decide(new ActiveContext(buildSnapshot(world, random), context), question);
}

/** Runs a property on cases whose question has no fault; says how many it looked at. */
function forCases(check: (made: Case, access: Access, random: Random) => boolean): number {
  let looked = 0;
  for (let seed = 0; seed < CASES; seed++) {
    const random = prng(seed ^ 0x51de);
    const made = makeCase(random);
    const { access } = made.question;
    if ("target" in access && check(made, access, random)) looked++;
  }
  return looked;
}

function standingSubjects({ context, question }: Case): Subject[] {
  const subjects = context.frames.map((frame) => frame.subject);
  return question.named === undefined ? subjects : [...subjects, question.named];
}

function exactlyThis(access: Access, subject: Subject): Omit<Denial, "id"> {
  return {
    subject,
    resourceType: access.resourceType,
    operation: access.operation,
    target: access.target.text,
    match: "exact",
  };
}

const isPair = (
  pair: ResourceOperation,
  other: { resourceType: string; operation: string } | undefined,
): boolean => pair.resourceType === other?.resourceType && pair.operation === other.operation;

describe("every decision", () => {
  it("allows explicitly or not at all", () => {
    const looked = forCases(({ world, context, question }, _access, random) => {
      const silent: World = {
        ...world,
        contracts: [],
        approvals: [],
        rules: world.rules.filter(({ effect }) => effect !== "allow"),
      };
      const plain: Context = { ...context, setup: false, observe: false, confined: false };
      if (plain.mode === "bypass" || context.frames.at(-1)?.subject.type === "core") return false;
      const { hook: _hook, classifier: _classifier, ...bare } = question;
      expect(answer(silent, plain, bare, random).allowed).toBe(false);
      return true;
    });
    expect(looked).toBeGreaterThan(CASES / 3);
  });

  it("lets no operation imply another", () => {
    const looked = forCases(({ world, context, question }, access, random) => {
      const isOther = (fact: { resourceType: string; operation: string }): boolean =>
        !isPair(access, fact) && !(question.twin !== undefined && isPair(question.twin, fact));
      const others: World = {
        ...world,
        contracts: world.contracts.map((contract) => ({
          ...contract,
          access: contract.access.filter(isOther),
        })),
        approvals: world.approvals.filter(isOther),
        rules: world.rules.filter((rule) => rule.effect !== "allow" || isOther(rule)),
      };
      const { code } = answer(others, { ...context, setup: false }, question, random);
      expect(["allowed_sandbox", "allowed_session", "allowed_permanent"]).not.toContain(code);
      return true;
    });
    expect(looked).toBeGreaterThan(CASES / 2);
  });

  it("lets a denial stick: without a declaration, an exact approval or set-up it is neither allowed nor asked again", () => {
    const looked = forCases(({ world, context, question }, access, random) => {
      const active = context.frames.at(-1);
      if (active === undefined) return false;
      const denial: Denial = { id: "sticks", ...exactlyThis(access, active.subject) };
      const isExactHere = (approval: Approval): boolean =>
        approval.match === "exact" && sameSubject(approval.subject, active.subject);
      const denied: World = {
        ...world,
        contracts: [],
        approvals: world.approvals.filter((approval) => !isExactHere(approval)),
        denials: [...world.denials, denial],
      };
      const verdict = answer(denied, { ...context, setup: false }, question, random);
      expect(verdict.allowed || verdict.registers).toBe(false);
      return true;
    });
    expect(looked).toBeGreaterThan(CASES / 2);
  });

  it("does not depend on the order and duplicates of facts", () => {
    const looked = forCases(({ world, context, question }, _access, random) => {
      const doubled: World = {
        ...world,
        contracts: world.contracts.map(({ id, access }) => ({
          id,
          access: [...access, ...access.toReversed()],
        })),
        rules: [
          ...world.rules,
          ...world.rules.map((rule) => ({ ...rule, id: `${rule.id}-again` })),
        ].toReversed(),
        denials: [
          ...world.denials,
          ...world.denials.map((denial) => ({ ...denial, id: `${denial.id}-again` })),
        ],
      };
      const once = answer(world, context, question, random);
      const twice = answer(doubled, context, question, random);
      expect([twice.code, twice.frame, twice.limited, twice.registers]).toEqual([
        once.code,
        once.frame,
        once.limited,
        once.registers,
      ]);
      return true;
    });
    expect(looked).toBeGreaterThan(CASES / 2);
  });

  it("changes nothing but X when X is approved", () => {
    const looked = forCases((made, access, random) => {
      const { world, context, question } = made;
      const pair = RESOURCE_OPERATIONS[
        Math.floor(random() * RESOURCE_OPERATIONS.length)
      ] as ResourceOperation;
      const isElsewhere = !isPair(pair, access) && !isPair(pair, question.twin);
      const subjects = standingSubjects(made);
      const stranger = world.approvals
        .map(({ subject }) => subject)
        .find((one) => !subjects.some((other) => sameSubject(one, other)));
      const subject = isElsewhere ? context.frames.at(-1)?.subject : stranger;
      if (subject === undefined) return false;
      const approval: Approval = {
        id: "x",
        ...exactlyThis(access, subject),
        ...(isElsewhere
          ? {
              ...pair,
              target: { network: "a.example", filesystem: "/", system_dependency: "git" }[pair.resourceType],
            }
          : {}),
        scope: "permanent",
        organizationId: null,
        userId: null,
        sessionKey: null,
        expiresAtMs: null,
        usesLeft: null,
      };
      const before = answer(world, context, question, random);
      const after = answer(
        { ...world, approvals: [...world.approvals, approval] },
        context,
        question,
        random,
      );
      expect(after).toEqual({ ...before, refs: after.refs });
      return true;
    });
    expect(looked).toBeGreaterThan(CASES / 2);
  });

  it("is never widened by shrinking a link of the chain", () => {
    const looked = forCases(({ world, context, question }, _access, random) => {
      if (context.frames.length === 0) return false;
      const link = Math.floor(random() * context.frames.length);
      const shrunk = context.frames.map((frame, index) => {
        if (index !== link) return frame;
        return random() < 0.5
          ? { ...frame, contracts: frame.contracts.slice(1) }
          : { ...frame, entry: index === 0 ? frame.entry : ("guarded" as const) };
      });
      const before = answer(world, context, question, random);
      const after = answer(world, { ...context, frames: shrunk }, question, random);
      if (after.allowed) expect(before.allowed).toBe(true);
      return !before.allowed || !after.allowed;
    });
    expect(looked).toBeGreaterThan(CASES / 4);
  });

  it("never lets bypass, or any mode, approval, hook or declaration, beat a deny rule", () => {
    const looked = forCases(({ world, context, question }, access, random) => {
      const active = context.frames.at(-1);
      if (active === undefined) return false;
      const { match: _match, ...aimed } = exactlyThis(access, active.subject);
      const rule: HostRule = { id: "deny", effect: "deny", source: "user", ...aimed };
      const forced: Context = { ...context, mode: random() < 0.5 ? "bypass" : context.mode, setup: false };
      const verdict = answer({ ...world, rules: [...world.rules, rule] }, forced, question, random);
      expect(verdict.allowed).toBe(false);
      return true;
    });
    expect(looked).toBeGreaterThan(CASES / 2);
  });

  it("never lets set-up, a mode or anything else beat a built-in deny", () => {
    const looked = forCases(({ world, context, question }, access, random) => {
      const { resourceType, operation, target } = access;
      const builtins = [...world.builtins, { id: "own", resourceType, operation, target: target.text }];
      expect(answer({ ...world, builtins }, context, question, random).allowed).toBe(false);
      return true;
    });
    expect(looked).toBeGreaterThan(CASES / 2);
  });
});
