/**
 * Whom a rule holds for: one organization, one user, one session, or anybody.
 */
import { describe, expect, it } from "vitest";
import { ActiveContext } from "./active-context.ts";
import type { Change } from "./change.ts";
import { decide } from "./decide.ts";
import type { Context, HostRule } from "./question.ts";
import { AGENT, TOOL, activate, context, question, rule, snapshotOf } from "./testing/fixture-world.ts";

const READ = { resourceType: "filesystem", operation: "read", target: "/data/x" } as const;
const declared: Change = { kind: "contract_set", contract: { id: "manifest", access: [READ] } };
const frames = [{ subject: TOOL, phase: "runtime", entry: "host", contracts: ["manifest"] }] as const;
const ruled = (more: Partial<HostRule>, effect: HostRule["effect"] = "deny"): Change => ({
  kind: "rule_set",
  rule: rule(effect, READ, more),
});
const codeOf = (active: ActiveContext): string =>
  decide(active, question(READ.resourceType, READ.operation, READ.target)).code;

const OWN: Partial<Context> = { organizationId: 7, userId: 21, sessionKey: "s" };

interface Row {
  readonly holder: Partial<HostRule>;
  readonly holds: readonly Partial<Context>[];
  readonly holdsNot: readonly Partial<Context>[];
}

const NOBODY: Partial<Context> = { organizationId: null, userId: null, sessionKey: null };
const ROWS: Readonly<Record<string, Row>> = {
  "an organization": {
    holder: { source: "organization", organizationId: 7 },
    holds: [OWN, { ...NOBODY, organizationId: 7 }],
    holdsNot: [NOBODY, { ...OWN, organizationId: 8 }, { ...OWN, organizationId: "7" }],
  },
  "the organization zero": {
    holder: { source: "organization", organizationId: 0 },
    holds: [{ ...OWN, organizationId: 0 }],
    holdsNot: [NOBODY, OWN, { ...OWN, organizationId: "" }],
  },
  "a user": {
    holder: { source: "user", userId: 21 },
    holds: [OWN, { ...NOBODY, userId: 21 }],
    holdsNot: [NOBODY, { ...OWN, userId: "21" }, { ...OWN, userId: 22 }],
  },
  "a session": {
    holder: { source: "session", sessionKey: "s" },
    holds: [OWN, { ...NOBODY, sessionKey: "s" }],
    holdsNot: [NOBODY, { ...OWN, sessionKey: "t" }, { ...OWN, sessionKey: "" }],
  },
  "a user of one organization": {
    holder: { organizationId: 7, userId: 21 },
    holds: [OWN],
    holdsNot: [NOBODY, { ...OWN, userId: 22 }, { ...OWN, organizationId: 8 }],
  },
  anybody: { holder: {}, holds: [NOBODY, OWN], holdsNot: [] },
};

describe("a rule that holds for", () => {
  it.each(Object.entries(ROWS))("%s binds nobody else", (_, { holder, holds, holdsNot }) => {
    const snapshot = snapshotOf(declared, ruled(holder));
    const codesOf = (contexts: readonly Partial<Context>[]): string[] =>
      contexts.map((more) => codeOf(new ActiveContext(snapshot, context({ frames, ...more }))));
    expect(codesOf(holds)).toEqual(holds.map(() => "denied_rule"));
    expect(codesOf(holdsNot)).toEqual(holdsNot.map(() => "allowed_sandbox"));
  });

  it("an organization may ask, and a host rule for one user may allow", () => {
    const asked = ruled({ source: "organization", organizationId: 7 }, "ask");
    expect(codeOf(activate({ ...OWN, frames }, declared, asked))).toBe("approval_required");
    const allowed = ruled({ userId: 21 }, "allow");
    expect(codeOf(activate(OWN, allowed))).toBe("allowed_rule");
    expect(codeOf(activate({ ...OWN, userId: 22 }, allowed))).toBe("approval_required");
  });

  it("one subject in one organization leaves other subjects there alone", () => {
    const denied = ruled({ organizationId: 7, subject: AGENT });
    expect(codeOf(activate({ ...OWN, frames }, declared, denied))).toBe("allowed_sandbox");
    const other = [{ ...frames[0], subject: AGENT }];
    expect(codeOf(activate({ ...OWN, frames: other }, declared, denied))).toBe("denied_rule");
  });

  it("an organization can be replaced by one that holds for another, and removed", () => {
    const snapshot = snapshotOf(declared, ruled({ organizationId: 7 }));
    const active = new ActiveContext(snapshot, context({ ...OWN, frames }));
    expect(codeOf(active)).toBe("denied_rule");
    snapshot.apply(ruled({ organizationId: 8 }));
    expect(codeOf(active)).toBe("allowed_sandbox");
    snapshot.apply(ruled({ organizationId: 7 }));
    expect(codeOf(active)).toBe("denied_rule");
    snapshot.apply({ kind: "rule_removed", id: "deny-rule" });
    expect(codeOf(active)).toBe("allowed_sandbox");
  });

  it("an empty session key is refused", () => {
    const taken = snapshotOf().apply(ruled({ source: "session", sessionKey: "" }));
    expect(taken).toMatchObject({ ok: false, code: "invalid_operation", field: "session_key" });
  });
});

describe("rules of others", () => {
  it("cost nothing: ten thousand organizations that deny the same target take no step of this one's check", () => {
    const others = Array.from({ length: 10_000 }, (_, index) =>
      ruled({ id: `r-${index}`, source: "organization", organizationId: 1000 + index }),
    );
    const alone = activate({ ...OWN, frames }, declared);
    const among = activate({ ...OWN, frames }, declared, ...others);
    const stepsOf = (active: ActiveContext): number => {
      const before = active.snapshot.table.steps;
      expect(codeOf(active)).toBe("allowed_sandbox");
      return active.snapshot.table.steps - before;
    };
    // WHY: a fuller table may need a few more slots to find its one entry; it never looks at the others' rules.
    expect(stepsOf(among)).toBeLessThan(stepsOf(alone) + 8);
  });
});
