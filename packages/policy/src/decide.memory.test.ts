/**
 * What is remembered, and what never is. Look-ups are counted in slots of the table, so that both can be seen.
 */
import { RESOURCE_OPERATIONS } from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { ActiveContext } from "./active-context.ts";
import type { Change } from "./change.ts";
import { decide } from "./decide.ts";
import type { Question } from "./question.ts";
import {
  AGENT,
  NOW_MS,
  SYSTEM,
  TOOL,
  access,
  activate,
  aimedAt,
  approval,
  frame,
  question,
  questionOf,
  rule,
} from "./testing/fixture-world.ts";

/** Slots that one decision looks at. */
function steps(active: ActiveContext, asked: Question): number {
  const before = active.snapshot.table.steps;
  decide(active, asked);
  return active.snapshot.table.steps - before;
}

const EVERYTHING: Change = {
  kind: "contract_set",
  contract: { id: "manifest", access: RESOURCE_OPERATIONS.map(aimedAt) },
};
const WITH_MANIFEST = { frames: [frame(AGENT), frame(TOOL, { contracts: ["manifest"] })] };
const READ = { resourceType: "filesystem", operation: "read", target: "/data/app/x" } as const;
const read = (target: string, more: Partial<Question> = {}): Question =>
  question("filesystem", "read", target, more);
const ASKS = ["default", "explicit", "passive"] as const;

describe("an answer that nothing can change", () => {
  it.each(RESOURCE_OPERATIONS)("is kept from the second time on: $resourceType $operation", (pair) => {
    for (const ask of ASKS) {
      const active = activate(WITH_MANIFEST, EVERYTHING);
      const asked = questionOf(pair, { ask });
      expect([steps(active, asked), steps(active, asked)]).not.toContain(0);
      expect([steps(active, asked), steps(active, asked)]).toEqual([0, 0]);
    }
  });

  it("of one context is not taken for that of another", () => {
    const active = activate(WITH_MANIFEST, EVERYTHING);
    const other = new ActiveContext(active.snapshot, active.context);
    const asked = question("filesystem", "read", "/mnt/imports/customer.csv");
    for (let time = 0; time < 3; time++) decide(active, asked);
    expect(steps(other, asked)).toBeGreaterThan(0);
    expect(steps(other, asked)).toBeGreaterThan(0);
    expect(steps(other, asked)).toBe(0);
  });

  it("is looked up again after a change", () => {
    const active = activate(WITH_MANIFEST, EVERYTHING);
    const asked = question("filesystem", "read", "/mnt/imports/customer.csv");
    steps(active, asked);
    active.snapshot.apply({ kind: "rule_removed", id: "none" });
    expect(steps(active, asked)).toBeGreaterThan(0);
  });
});

describe("an answer of a plain question", () => {
  const path = { resourceType: "filesystem", operation: "execute", target: "/usr/bin/git" } as const;
  const host = (text: string) => {
    const parsed = access("network", "connect", text);
    if (!("target" in parsed) || parsed.target.form !== "endpoint") throw new Error(text);
    return parsed.target.host;
  };

  /** What the plain question is answered with, then the one that carries more. */
  const twice = (active: ActiveContext, plain: Question, more: Partial<Question>): string[] => [
    decide(active, plain).code,
    decide(active, plain).code,
    decide(active, { ...plain, ...more }).code,
    decide(active, plain).code,
  ];

  it("is not given to one with a twin", () => {
    const twin = access(path.resourceType, path.operation, path.target);
    if (!("target" in twin)) throw new Error("no twin");
    const active = activate({}, { kind: "approval_set", approval: approval(path) });
    const plain = question("system_dependency", "execute", "git");
    expect(twice(active, plain, { twin })).toEqual([
      "approval_required",
      "approval_required",
      "allowed_permanent",
      "approval_required",
    ]);
  });

  it("is not given to one with an address or aliases", () => {
    const deny = rule("deny", { resourceType: "network", operation: "receive", target: "10.0.0.7" });
    const byName = {
      id: "manifest",
      access: [{ resourceType: "network", operation: "receive", target: "a.example" }],
    } as const;
    const active = activate(
      WITH_MANIFEST,
      { kind: "contract_set", contract: byName },
      { kind: "rule_set", rule: deny },
    );
    const named = question("network", "receive", "http://a.example/");
    expect(twice(active, named, { address: host("10.0.0.7") })).toEqual([
      "allowed_sandbox",
      "allowed_sandbox",
      "denied_rule",
      "allowed_sandbox",
    ]);
    const literal = question("network", "receive", "http://10.0.0.8/");
    expect(twice(active, literal, { aliases: [host("a.example")] })).toEqual([
      "approval_required",
      "approval_required",
      "allowed_sandbox",
      "approval_required",
    ]);
  });

  it("is not given to one with a hook, a classifier or a named subject", () => {
    const plain = question("filesystem", "read", "/mnt/imports/customer.csv");
    const active = activate(WITH_MANIFEST, EVERYTHING);
    const hook = { answer: "deny", ref: "hook" } as const;
    expect(twice(active, plain, { hook })).toEqual([
      "allowed_sandbox",
      "allowed_sandbox",
      "denied_rule",
      "allowed_sandbox",
    ]);
    expect(twice(active, plain, { named: AGENT })).toEqual([
      "allowed_sandbox",
      "allowed_sandbox",
      "approval_required",
      "allowed_sandbox",
    ]);
    const auto = activate({ mode: "auto" });
    const classifier = { answer: "allow", ref: "classifier" } as const;
    expect(twice(auto, plain, { classifier })).toEqual([
      "approval_required",
      "approval_required",
      "allowed_mode",
      "approval_required",
    ]);
  });
});

describe("an answer that time or use can change", () => {
  const asked = question("filesystem", "read", "/data/x");
  const aimed = { resourceType: "filesystem", operation: "read", target: "/data/x" } as const;

  it("is not remembered: the end of mode bypass", () => {
    const active = activate({ mode: "bypass", modeExpiresAtMs: NOW_MS + 1 });
    const times = [NOW_MS, NOW_MS, NOW_MS, NOW_MS + 1, NOW_MS + 1, NOW_MS + 1, NOW_MS];
    const codes = times.map((nowMs) => decide(active, { ...asked, nowMs }).code);
    const [holds, over] = ["allowed_mode", "approval_required"];
    expect(codes).toEqual([holds, holds, holds, over, over, over, holds]);
  });

  it("is not remembered: an approval that ends, alive or dead", () => {
    const active = activate({}, { kind: "approval_set", approval: approval(aimed, { expiresAtMs: NOW_MS }) });
    const times = [NOW_MS, NOW_MS, NOW_MS, NOW_MS - 1, NOW_MS - 1, NOW_MS - 1, NOW_MS];
    const codes = times.map((nowMs) => decide(active, { ...asked, nowMs }).code);
    const [dead, alive] = ["approval_required", "allowed_permanent"];
    expect(codes).toEqual([dead, dead, dead, alive, alive, alive, dead]);
  });

  it("is not remembered: an approval that is counted", () => {
    const active = activate({}, { kind: "approval_set", approval: approval(aimed, { usesLeft: 3 }) });
    for (let time = 0; time < 3; time++) expect(steps(active, asked)).toBeGreaterThan(0);
  });
});

describe("an answer from memory", () => {
  it("is forgotten with the next change of any kind", () => {
    const active = activate({});
    expect(decide(active, read(READ.target)).code).toBe("approval_required");
    expect(decide(active, read(READ.target)).code).toBe("approval_required");
    active.snapshot.apply({ kind: "approval_set", approval: approval(READ) });
    expect(decide(active, read(READ.target)).code).toBe("allowed_permanent");
    active.snapshot.apply({ kind: "approval_removed", id: "approval" });
    expect(decide(active, read(READ.target)).code).toBe("approval_required");
  });

  it("stays right when more targets were asked for than memory holds", () => {
    const active = activate(WITH_MANIFEST, {
      kind: "contract_set",
      contract: { id: "manifest", access: [{ ...READ, target: "/data/even/" }] },
    });
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 6000; index++) {
        const path = index % 2 === 0 ? `/data/even/${index}` : `/data/odd/${index}`;
        expect(decide(active, read(path)).allowed).toBe(index % 2 === 0);
      }
    }
  });

  it("does not mix ways of asking", () => {
    const active = activate({ mode: "on_request" });
    expect(decide(active, read("/x")).code).toBe("denied_mode");
    expect(decide(active, read("/x", { ask: "explicit" })).code).toBe("approval_required");
    expect(decide(active, read("/x")).code).toBe("denied_mode");
    const asking = activate({});
    expect(decide(asking, read("/x", { ask: "passive" })).registers).toBe(false);
    expect(decide(asking, read("/x")).registers).toBe(true);
  });

  it("cannot be altered by whoever was given it", () => {
    const active = activate({});
    const verdict = decide(active, read("/x"));
    expect(Object.isFrozen(verdict) && Object.isFrozen(verdict.refs)).toBe(true);
    expect(() => Object.assign(verdict, { allowed: true })).toThrow(TypeError);
  });
});

describe("set-up", () => {
  it("does not hold for another subject that is named beside the system module", () => {
    const active = activate({ setup: true, frames: [frame(AGENT), frame(SYSTEM)] });
    const asked = question("filesystem", "read", "/data/x");
    expect(decide(active, asked).code).toBe("allowed_setup");
    expect(decide(active, { ...asked, named: SYSTEM }).code).toBe("allowed_setup");
    expect(decide(active, { ...asked, named: AGENT }).code).toBe("approval_required");
  });
});
