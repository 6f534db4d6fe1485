/**
 * Who decided: for every way to an answer its source, its references and the steps that led to it.
 */
import { describe, expect, it } from "vitest";
import { ActiveContext } from "./active-context.ts";
import type { Change } from "./change.ts";
import { decide } from "./decide.ts";
import { explain } from "./explain.ts";
import type { Context, Question } from "./question.ts";
import {
  AGENT,
  CORE,
  NOW_MS,
  SYSTEM,
  TOOL,
  approval,
  context,
  denial,
  frame,
  question,
  rule,
  sessionApproval,
  snapshotOf,
} from "./testing/fixture-world.ts";
import type { TraceNote } from "./trace.ts";

const READ = { resourceType: "filesystem", operation: "read", target: "/data/x" } as const;
const SEND = { resourceType: "network", operation: "send", target: "https://a.example/x" } as const;
const declared: Change = { kind: "contract_set", contract: { id: "manifest", access: [READ, SEND] } };
const unlimited: Change = { kind: "approval_set", approval: approval(READ) };
const forSession: Change = { kind: "approval_set", approval: sessionApproval(READ) };
const denied: Change = { kind: "denial_set", denial: denial(READ) };
const ruled = (effect: "deny" | "ask" | "allow", more = {}): Change => ({
  kind: "rule_set",
  rule: rule(effect, READ, more),
});
const builtin: Change = { kind: "builtin_set", builtin: { id: "builtin", ...READ } };
const answer = (given: "allow" | "deny" | "ask") => ({ answer: given, ref: `says-${given}` }) as const;

interface Row {
  readonly changes?: readonly Change[];
  readonly context?: Partial<Context>;
  readonly question?: Partial<Question>;
  /** code, outcome, source, references. */
  readonly expected: readonly [string, string, string, readonly string[]];
}

const ROWS: Readonly<Record<string, Row>> = {
  "a declaration": {
    changes: [declared],
    expected: ["allowed_sandbox", "allowed", "manifest", ["manifest"]],
  },
  "a session approval": {
    changes: [forSession, unlimited],
    expected: ["allowed_session", "allowed", "session_approval", ["session-approval"]],
  },
  "a permanent approval": {
    changes: [unlimited],
    expected: ["allowed_permanent", "allowed", "permanent_approval", ["approval"]],
  },
  "a denial": { changes: [denied], expected: ["resource_disabled", "denied", "denial", ["denial"]] },
  "a built-in deny": {
    changes: [builtin, declared],
    expected: ["denied_rule", "denied", "builtin_rule", ["builtin"]],
  },
  "set-up": {
    context: { setup: true, frames: [frame(SYSTEM)] },
    expected: ["allowed_setup", "allowed", "setup", []],
  },
  "a deny rule": {
    changes: [ruled("deny"), declared],
    expected: ["denied_rule", "denied", "host_rule", ["deny-rule"]],
  },
  "a deny rule of the subject before one of everybody": {
    changes: [ruled("deny"), ruled("deny", { id: "own", subject: TOOL })],
    expected: ["denied_rule", "denied", "host_rule", ["own"]],
  },
  "an ask rule": {
    changes: [ruled("ask"), declared],
    expected: ["approval_required", "asked", "host_rule", ["ask-rule"]],
  },
  "an ask rule before a hook's ask": {
    changes: [ruled("ask")],
    question: { hook: answer("ask") },
    expected: ["approval_required", "asked", "host_rule", ["ask-rule"]],
  },
  "a hook's ask": {
    changes: [declared],
    question: { hook: answer("ask") },
    expected: ["approval_required", "asked", "host_rule", ["says-ask"]],
  },
  "a hook's deny": {
    changes: [declared],
    question: { hook: answer("deny") },
    expected: ["denied_rule", "denied", "hook", ["says-deny"]],
  },
  "a hook's allow": {
    question: { hook: answer("allow") },
    expected: ["allowed_rule", "allowed", "hook", ["says-allow"]],
  },
  "an allow rule before a hook's allow": {
    changes: [ruled("allow")],
    question: { hook: answer("allow") },
    expected: ["allowed_rule", "allowed", "host_rule", ["allow-rule"]],
  },
  "an allow rule of the subject before one of everybody": {
    changes: [ruled("allow"), ruled("allow", { id: "own", subject: TOOL })],
    expected: ["allowed_rule", "allowed", "host_rule", ["own"]],
  },
  nothing: { expected: ["approval_required", "asked", "mode", []] },
  "nothing, for host code": {
    context: { frames: [frame(CORE)] },
    expected: ["allowed_rule", "allowed", "host_rule", []],
  },
  "mode never": { context: { mode: "never" }, expected: ["denied_mode", "denied", "mode", []] },
  "mode on_request": { context: { mode: "on_request" }, expected: ["denied_mode", "denied", "mode", []] },
  "mode on_failure, confined": {
    context: { mode: "on_failure", confined: true },
    expected: ["allowed_mode", "sandboxed", "mode", []],
  },
  "mode on_failure, not confined": {
    context: { mode: "on_failure" },
    expected: ["denied_mode", "denied", "mode", []],
  },
  "mode bypass": {
    context: { mode: "bypass", modeExpiresAtMs: NOW_MS + 1 },
    expected: ["allowed_mode", "allowed", "mode", []],
  },
  "mode bypass without an end, whatever the clock says": {
    context: { mode: "bypass" },
    question: { nowMs: -1 },
    expected: ["approval_required", "asked", "mode", []],
  },
  "mode plan": {
    context: { mode: "plan" },
    question: question("network", "send", SEND.target),
    expected: ["denied_mode", "denied", "mode", []],
  },
  "a classifier's allow": {
    context: { mode: "auto" },
    question: { classifier: answer("allow") },
    expected: ["allowed_mode", "allowed", "classifier", ["says-allow"]],
  },
  "a classifier's deny": {
    context: { mode: "auto" },
    question: { classifier: answer("deny") },
    expected: ["denied_mode", "denied", "classifier", ["says-deny"]],
  },
  "a classifier's ask": {
    context: { mode: "auto" },
    question: { classifier: answer("ask") },
    expected: ["approval_required", "asked", "mode", []],
  },
  observe: { context: { observe: true }, expected: ["allowed_mode", "allowed", "observe", []] },
  "observe, an ask rule": {
    changes: [ruled("ask")],
    context: { observe: true },
    expected: ["allowed_mode", "allowed", "observe", ["ask-rule"]],
  },
  "observe in mode plan": {
    context: { observe: true, mode: "plan" },
    question: question("network", "send", SEND.target),
    expected: ["allowed_mode", "allowed", "observe", []],
  },
  "a snapshot that is not live": {
    changes: [unlimited],
    context: { live: false },
    expected: ["unavailable", "unavailable", "fault", []],
  },
  "no subject": { context: { frames: [] }, expected: ["no_subject", "denied", "context", []] },
  "a subject that is not active": {
    question: { named: AGENT },
    expected: ["subject_not_active", "denied", "context", []],
  },
  "a bad target": {
    question: question("filesystem", "read", "x"),
    expected: ["invalid_target", "denied", "validation", []],
  },
  "a bad operation": {
    question: question("filesystem", "send", "/x"),
    expected: ["invalid_operation", "denied", "validation", []],
  },
};

const contextOf = (row: Row): Context =>
  context({ frames: [frame(TOOL, { contracts: ["manifest"] })], ...row.context });
const questionOf = (row: Row): Question => ({
  ...question("filesystem", "read", READ.target),
  ...row.question,
});

describe("a decision says who made it", () => {
  it.each(Object.entries(ROWS))("%s", (_name, row) => {
    const active = new ActiveContext(snapshotOf(...(row.changes ?? [])), contextOf(row));
    const verdict = decide(active, questionOf(row));
    expect([verdict.code, verdict.outcome, verdict.source, verdict.refs]).toEqual(row.expected);
    expect(verdict.allowed).toBe(["allowed", "sandboxed"].includes(verdict.outcome));
    expect(verdict.requiresApproval).toBe(verdict.code === "approval_required");
    expect(explain(active, questionOf(row)).verdict).toEqual(verdict);
  });

  it("a fault of its own", () => {
    expect(decide({} as ActiveContext, question("filesystem", "read", "/x"))).toMatchObject({
      code: "unavailable",
      source: "fault",
      frame: -1,
      refs: [],
    });
  });

  it("every frame that used an approval, once each, and limited where any was", () => {
    const frames = [frame(AGENT), frame(TOOL, { entry: "guarded" })];
    const outer = approval(READ, { id: "outer", subject: AGENT, usesLeft: 2 });
    const active = new ActiveContext(
      snapshotOf(unlimited, { kind: "approval_set", approval: outer }),
      context({ frames }),
    );
    expect(decide(active, question("filesystem", "read", READ.target))).toMatchObject({
      code: "allowed_permanent",
      frame: 1,
      refs: ["approval", "outer"],
      limited: true,
    });
  });
});

describe("the steps of a decision", () => {
  const steps = (row: Omit<Row, "expected">): readonly (readonly unknown[])[] => {
    const full = { ...row, expected: ROWS["nothing"]?.expected as Row["expected"] };
    const active = new ActiveContext(snapshotOf(...(row.changes ?? [])), contextOf(full));
    const tell = ({ step, result, ref }: TraceNote) => [step, result, ref];
    return explain(active, questionOf(full))
      .steps.filter(({ result }) => result !== "miss")
      .map(tell);
  };

  it.each<[string, Omit<Row, "expected">, unknown[][]]>([
    ["nothing", {}, []],
    ["built-in deny", { changes: [builtin] }, [["builtin_denies", "hit", "builtin"]]],
    ["set-up", { context: { setup: true, frames: [frame(SYSTEM)] } }, [["setup", "hit", "setup"]]],
    ["deny rule", { changes: [ruled("deny")] }, [["deny_rules", "hit", "deny-rule"]]],
    [
      "plan",
      { context: { mode: "plan" }, question: question("network", "send", SEND.target) },
      [["plan", "hit", "plan"]],
    ],
    [
      "plan, observed",
      { context: { mode: "plan", observe: true }, question: question("network", "send", SEND.target) },
      [["plan", "barred", "plan"]],
    ],
    ["declared", { changes: [declared] }, [["allowlist", "hit", "manifest"]]],
    [
      "declared, asked",
      { changes: [declared, ruled("ask")] },
      [
        ["ask_rules", "hit", "ask-rule"],
        ["allowlist", "barred", "manifest"],
      ],
    ],
    [
      "declared, asked by a hook",
      { changes: [declared], question: { hook: answer("ask") } },
      [
        ["ask_rules", "hit", "says-ask"],
        ["allowlist", "barred", "manifest"],
      ],
    ],
    [
      "declared, untrusted",
      {
        changes: [declared],
        context: { mode: "untrusted" },
        question: question("network", "send", SEND.target),
      },
      [["allowlist", "barred", "manifest"]],
    ],
    [
      "declared read, untrusted",
      { changes: [declared], context: { mode: "untrusted" } },
      [["allowlist", "hit", "manifest"]],
    ],
    ["session approval", { changes: [forSession] }, [["session_approval", "hit", "session-approval"]]],
    ["permanent approval", { changes: [unlimited] }, [["permanent_approval", "hit", "approval"]]],
    [
      "dead approval",
      { changes: [{ kind: "approval_set", approval: approval(READ, { usesLeft: 0 }) }] },
      [["permanent_approval", "barred", "approval"]],
    ],
    ["denial", { changes: [denied] }, [["denial", "hit", "denial"]]],
    ["allow rule", { changes: [ruled("allow")] }, [["allow_rules", "hit", "allow-rule"]]],
  ])("are told: %s", (_name, row, expected) => {
    expect(steps(row)).toEqual(expected);
  });

  it("a hook that asks without saying who it is still asks", () => {
    const active = new ActiveContext(snapshotOf(declared), contextOf({ expected: ["", "", "", []] }));
    const nameless = { answer: "ask" } as unknown as NonNullable<Question["hook"]>;
    expect(decide(active, { ...question("filesystem", "read", READ.target), hook: nameless }).code).toBe(
      "approval_required",
    );
  });
});
