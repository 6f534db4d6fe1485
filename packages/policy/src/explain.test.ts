import { describe, expect, it } from "vitest";
import { caseCount } from "./testing/case-count.ts";
import { decide } from "./decide.ts";
import type { Question } from "./question.ts";
import { explain } from "./explain.ts";
import { makeCase, prng } from "./testing/arbitrary-world.ts";
import { buildSnapshot } from "./testing/compare-with-reference.ts";
import { ActiveContext } from "./active-context.ts";
import {
  AGENT,
  CORE,
  SYSTEM,
  TOOL,
  activate,
  approval,
  denial,
  frame,
  question,
  rule,
  sessionApproval,
} from "./testing/fixture-world.ts";

const READ = { resourceType: "filesystem", operation: "read", target: "/data/x" } as const;
const read = (more = {}) => question("filesystem", "read", "/data/x", more);
const write = () => question("filesystem", "modify", "/data/x");
const kinds = (remedies: readonly { kind: string }[]): string[] => remedies.map(({ kind }) => kind);

describe("an explanation", () => {
  it("says who, what and why in one sentence", () => {
    const explained = explain(activate({}), read());
    expect(explained.because).toBe(
      "tool:demo.read_file: filesystem read `/data/x` is asked: nothing allows it yet, a person may",
    );
    expect(explained.subject).toEqual(TOOL);
  });

  it.each<[string, ReturnType<typeof activate>, Question, string]>([
    ["set-up", activate({ setup: true, frames: [frame(SYSTEM)] }), read(), "is allowed: set-up is running"],
    [
      "a declaration",
      activate(
        { frames: [frame(TOOL, { contracts: ["manifest"] })] },
        { kind: "contract_set", contract: { id: "manifest", access: [READ] } },
      ),
      read(),
      "is allowed: it is declared (manifest)",
    ],
    [
      "two frames",
      activate(
        { frames: [frame(AGENT), frame(TOOL, { entry: "guarded" })] },
        { kind: "approval_set", approval: approval(READ, { id: "a-tool" }) },
        { kind: "approval_set", approval: approval(READ, { id: "a-agent", subject: AGENT }) },
      ),
      read(),
      "is allowed: it was approved permanently (a-tool, a-agent)",
    ],
    [
      "a session approval",
      activate({}, { kind: "approval_set", approval: sessionApproval(READ) }),
      read(),
      "is allowed: it was approved for this session (session-approval)",
    ],
    [
      "an allow rule",
      activate({}, { kind: "rule_set", rule: rule("allow", READ) }),
      read(),
      "is allowed: host policy allows it (allow-rule)",
    ],
    [
      "a mode that allows",
      activate({ mode: "bypass", modeExpiresAtMs: Infinity }),
      read(),
      "is allowed: the mode allows it",
    ],
    ["a mode that refuses", activate({ mode: "never" }), read(), "is denied: the mode refuses it"],
    [
      "a denial",
      activate({}, { kind: "denial_set", denial: denial(READ) }),
      read(),
      "is denied: a person reviewed and refused it; do not retry (denial)",
    ],
    [
      "a deny rule",
      activate({}, { kind: "rule_set", rule: rule("deny", READ) }),
      read(),
      "is denied: a rule forbids it (deny-rule)",
    ],
    [
      "a service that is away",
      activate({ live: false }),
      read(),
      "is unavailable: the service cannot vouch for approvals now",
    ],
    [
      "another subject",
      activate({}),
      read({ named: AGENT }),
      "is denied: the named subject is not on the active chain",
    ],
    ["nobody", activate({ frames: [] }), read(), "is denied: no subject is active"],
  ])("gives the reason of %s", (_, active, asked, reason) => {
    const { because, subject } = explain(active, asked);
    const who = subject === undefined ? "no subject" : `${subject.type}:${subject.name}`;
    expect(because).toBe(`${who}: filesystem read \`/data/x\` ${reason}`);
  });

  it("of a subject that host code names speaks of that one", () => {
    const active = activate(
      { frames: [frame(CORE)] },
      { kind: "subject_registered", registration: { subject: TOOL, contracts: [] } },
    );
    expect(explain(active, read({ named: TOOL })).subject).toEqual(TOOL);
  });

  it("of what was asked for explicitly does not say to ask explicitly", () => {
    const { remedies } = explain(activate({ mode: "plan" }), { ...write(), ask: "explicit" });
    expect(kinds(remedies)).toEqual(["change_mode"]);
    const ruled = activate({ mode: "on_request" });
    expect(kinds(explain(ruled, { ...read(), ask: "explicit" }).remedies)).toEqual([
      "declare",
      "approve_session",
      "approve_permanently",
    ]);
  });

  it("names every step it looked at, in the order of the check", () => {
    const { steps } = explain(activate({}), read());
    expect(steps.map(({ step }) => step)).toEqual([
      "builtin_denies",
      "setup",
      "deny_rules",
      "plan",
      "ask_rules",
      "allowlist",
      "denial",
      "allow_rules",
    ]);
  });

  it("names the rule, the frame and what keeps a grant from counting", () => {
    const wide = approval({ ...READ, target: "/data" }, { match: "directory" });
    const active = activate(
      {},
      { kind: "approval_set", approval: wide },
      { kind: "denial_set", denial: denial(READ) },
    );
    const { steps, verdict } = explain(active, read());
    expect(verdict).toMatchObject({ code: "resource_disabled", refs: ["denial"] });
    expect(steps).toContainEqual({ frame: 0, step: "permanent_approval", result: "barred", ref: "approval" });
    expect(steps).toContainEqual({ frame: 0, step: "denial", result: "hit", ref: "denial" });
  });

  it("names the enclosing frame that fails", () => {
    const frames = [frame(AGENT), frame(TOOL, { entry: "guarded", contracts: ["inner"] })];
    const inner = { id: "inner", access: [{ ...READ, target: "/data/" }] };
    const { subject, remedies } = explain(
      activate({ frames }, { kind: "contract_set", contract: inner }),
      read(),
    );
    expect(subject).toEqual(AGENT);
    expect(remedies[0]).toEqual({ kind: "declare", subject: AGENT, rule: READ });
  });

  it("says what would have allowed it", () => {
    expect(kinds(explain(activate({}), read()).remedies)).toEqual([
      "declare",
      "approve_session",
      "approve_permanently",
    ]);
    expect(kinds(explain(activate({ sessionKey: null }), read()).remedies)).toEqual([
      "declare",
      "approve_permanently",
    ]);
    expect(kinds(explain(activate({ mode: "untrusted" }), read()).remedies)).toEqual([
      "approve_session",
      "approve_permanently",
    ]);
    const asked = activate({}, { kind: "rule_set", rule: rule("ask", READ) });
    expect(kinds(explain(asked, read()).remedies)).toEqual(["approve_session", "approve_permanently"]);
    const denied = activate({}, { kind: "denial_set", denial: denial(READ) });
    expect(explain(denied, read()).remedies).toEqual([{ kind: "lift_denial", ref: "denial" }]);
    const ruled = activate({}, { kind: "rule_set", rule: rule("deny", READ) });
    expect(explain(ruled, read()).remedies).toEqual([{ kind: "remove_rule", ref: "deny-rule" }]);
    const builtin = activate({}, { kind: "builtin_set", builtin: { id: "b", ...READ } });
    expect(explain(builtin, read()).remedies).toEqual([]);
    expect(kinds(explain(activate({ mode: "never" }), read()).remedies)).toEqual(["change_mode"]);
    expect(kinds(explain(activate({ mode: "on_request" }), read()).remedies)).toEqual([
      "ask_explicitly",
      "change_mode",
    ]);
    expect(kinds(explain(activate({ live: false }), read()).remedies)).toEqual(["restore_service"]);
    expect(kinds(explain(activate({ frames: [] }), read()).remedies)).toEqual(["enter_subject"]);
    expect(explain(activate({}), read({ named: AGENT })).remedies).toEqual([
      { kind: "name_active_subject", subject: TOOL },
    ]);
    expect(kinds(explain(activate({}), question("filesystem", "read", "relative")).remedies)).toEqual([
      "fix_question",
    ]);
    expect(explain(activate({ mode: "bypass", modeExpiresAtMs: Infinity }), read()).remedies).toEqual([]);
  });

  it("keeps its promises: a declaration it proposes allows, wherever it proposes one", () => {
    let proposed = 0;
    for (let seed = 0; seed < caseCount(3000) + 300; seed++) {
      const random = prng(seed);
      const { world, context, question: asked } = makeCase(random);
      const active = new ActiveContext(buildSnapshot(world, random), context);
      const { remedies, verdict } = explain(active, asked);
      const remedy = remedies.find(({ kind }) => kind === "declare");
      if (remedy?.kind !== "declare" || asked.aliases !== undefined || asked.address !== undefined) continue;
      proposed++;
      active.snapshot.apply({ kind: "contract_set", contract: { id: "proposed", access: [remedy.rule] } });
      const frames = context.frames.map((one, index) =>
        index === verdict.frame ? { ...one, contracts: [...one.contracts, "proposed"] } : one,
      );
      const after = decide(new ActiveContext(active.snapshot, { ...context, frames }), asked);
      const isSettled = after.allowed || after.frame !== verdict.frame;
      expect([seed, isSettled || asked.named !== undefined]).toEqual([seed, true]);
    }
    expect(proposed).toBeGreaterThan(20);
  });
});
