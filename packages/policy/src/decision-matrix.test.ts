/**
 * The golden decision matrix: mode x source of decision x resource x operation, as a text a person can read.
 * The engine and the reference model must both give exactly `docs/decision-matrix.txt`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import {
  CHECK_CODES,
  type CheckCode,
  PERMISSION_MODES,
  type PermissionMode,
  RESOURCE_OPERATIONS,
  type ResourceOperation,
} from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { ActiveContext } from "./active-context.ts";
import type { Change } from "./change.ts";
import { decide } from "./decide.ts";
import type { Context, Question } from "./question.ts";
import {
  NOW_MS,
  aimedAt,
  approval,
  context,
  denial,
  frame,
  questionOf,
  rule,
  sessionApproval,
  snapshotOf,
  SYSTEM,
  TOOL,
} from "./testing/fixture-world.ts";
import { type World, referenceDecide } from "./testing/reference-decide.ts";

const FILE = new URL("../../../docs/decision-matrix.txt", import.meta.url);

interface Source {
  readonly changes: (pair: ResourceOperation) => readonly Change[];
  readonly question?: Partial<Question>;
  readonly context?: Partial<Context>;
}

const declared = (pair: ResourceOperation): Change => ({
  kind: "contract_set",
  contract: { id: "manifest", access: [aimedAt(pair)] },
});
const granted = (pair: ResourceOperation): Change => ({
  kind: "approval_set",
  approval: approval(aimedAt(pair)),
});
const denied = (pair: ResourceOperation): Change => ({ kind: "denial_set", denial: denial(aimedAt(pair)) });
const sessionGranted = (pair: ResourceOperation): Change => ({
  kind: "approval_set",
  approval: sessionApproval(aimedAt(pair)),
});
const ruled =
  (effect: "deny" | "ask" | "allow") =>
  (pair: ResourceOperation): Change => ({
    kind: "rule_set",
    rule: rule(effect, aimedAt(pair)),
  });
const builtin = (pair: ResourceOperation): Change => ({
  kind: "builtin_set",
  builtin: { id: "builtin", ...aimedAt(pair) },
});
const SYSTEM_SETS_UP = { frames: [frame(SYSTEM)], setup: true };

/** Every source of a decision, alone and in the pairs whose order matters. */
const SOURCES: Readonly<Record<string, Source>> = {
  nothing: { changes: () => [] },
  declared: { changes: (pair) => [declared(pair)] },
  "approved for the session": { changes: (pair) => [sessionGranted(pair)] },
  "approved permanently": { changes: (pair) => [granted(pair)] },
  denied: { changes: (pair) => [denied(pair)] },
  "denied, approved for the session": { changes: (pair) => [denied(pair), sessionGranted(pair)] },
  "denied, declared": { changes: (pair) => [denied(pair), declared(pair)] },
  "deny rule, declared": { changes: (pair) => [ruled("deny")(pair), declared(pair)] },
  "deny rule, approved permanently": { changes: (pair) => [ruled("deny")(pair), granted(pair)] },
  "ask rule": { changes: (pair) => [ruled("ask")(pair)] },
  "ask rule, declared": { changes: (pair) => [ruled("ask")(pair), declared(pair)] },
  "ask rule, allow rule": { changes: (pair) => [ruled("ask")(pair), ruled("allow")(pair)] },
  "ask rule, approved permanently": { changes: (pair) => [ruled("ask")(pair), granted(pair)] },
  "allow rule": { changes: (pair) => [ruled("allow")(pair)] },
  "allow rule, denied": { changes: (pair) => [ruled("allow")(pair), denied(pair)] },
  "hook allows": { changes: () => [], question: { hook: { answer: "allow", ref: "hook" } } },
  "hook allows, denied": {
    changes: (pair) => [denied(pair)],
    question: { hook: { answer: "allow", ref: "hook" } },
  },
  "hook asks, declared": {
    changes: (pair) => [declared(pair)],
    question: { hook: { answer: "ask", ref: "hook" } },
  },
  "hook denies, declared": {
    changes: (pair) => [declared(pair)],
    question: { hook: { answer: "deny", ref: "hook" } },
  },
  "classifier allows": {
    changes: () => [],
    question: { classifier: { answer: "allow", ref: "classifier" } },
  },
  "classifier denies": { changes: () => [], question: { classifier: { answer: "deny", ref: "classifier" } } },
  "classifier allows, denied": {
    changes: (pair) => [denied(pair)],
    question: { classifier: { answer: "allow", ref: "classifier" } },
  },
  "the caller asks": { changes: () => [], question: { ask: "explicit" } },
  confined: { changes: () => [], context: { confined: true } },
  "confined, denied": { changes: (pair) => [denied(pair)], context: { confined: true } },
  "past the end of the mode": { changes: () => [], context: { modeExpiresAtMs: NOW_MS } },
  "set-up": { changes: () => [], context: SYSTEM_SETS_UP },
  "set-up, built-in deny": { changes: (pair) => [builtin(pair)], context: SYSTEM_SETS_UP },
  "built-in deny, declared": { changes: (pair) => [builtin(pair), declared(pair)] },
  "not live": { changes: () => [], context: { live: false } },
  "not live, declared": { changes: (pair) => [declared(pair)], context: { live: false } },
  "not live, approved permanently": { changes: (pair) => [granted(pair)], context: { live: false } },
  observe: { changes: () => [], context: { observe: true } },
  "observe, denied": { changes: (pair) => [denied(pair)], context: { observe: true } },
  "no subject": { changes: () => [], context: { frames: [] } },
};

/** Codes that no cell can show, with the reason; one that shows up all the same fails the check. */
const NOT_IN_MATRIX: Partial<Record<CheckCode, string>> = {
  invalid_target: "every target of the matrix is valid",
  invalid_operation: "every pair of the matrix is legal",
  subject_not_active: "nothing is named in the matrix",
  request_limit: "given by the service",
  approval_timeout: "given by the service",
};

const COLUMNS = RESOURCE_OPERATIONS.map(
  (pair) =>
    `${{ network: "net", filesystem: "fs", system_dependency: "sys" }[pair.resourceType]} ${pair.operation}`,
);

type Decider = (mode: PermissionMode, source: Source, pair: ResourceOperation) => CheckCode;

const contextOf = (mode: PermissionMode, source: Source): Context =>
  context({
    frames: [frame(TOOL, { contracts: ["manifest"] })],
    mode,
    modeExpiresAtMs: mode === "bypass" ? NOW_MS + 1 : null,
    ...source.context,
  });

const byEngine: Decider = (mode, source, pair) => {
  const active = new ActiveContext(snapshotOf(...source.changes(pair)), contextOf(mode, source));
  return decide(active, questionOf(pair, source.question)).code;
};

const byReference: Decider = (mode, source, pair) => {
  const changes = source.changes(pair);
  const world: World = {
    contracts: changes.flatMap((change) => (change.kind === "contract_set" ? [change.contract] : [])),
    registrations: [],
    rules: changes.flatMap((change) => (change.kind === "rule_set" ? [change.rule] : [])),
    builtins: changes.flatMap((change) => (change.kind === "builtin_set" ? [change.builtin] : [])),
    approvals: changes.flatMap((change) => (change.kind === "approval_set" ? [change.approval] : [])),
    denials: changes.flatMap((change) => (change.kind === "denial_set" ? [change.denial] : [])),
  };
  return referenceDecide(world, contextOf(mode, source), questionOf(pair, source.question)).code;
};

function matrix(decider: Decider): string {
  const lines = [
    "Every cell is the code of a check. Rows: what there is. Columns: resource and operation.",
    "",
  ];
  for (const mode of PERMISSION_MODES) {
    lines.push(`mode ${mode}`, row("", COLUMNS));
    for (const [name, source] of Object.entries(SOURCES)) {
      lines.push(
        row(
          name,
          RESOURCE_OPERATIONS.map((pair) => decider(mode, source, pair)),
        ),
      );
    }
    lines.push("");
  }
  return lines.join("\n");
}

function row(name: string, cells: readonly string[]): string {
  return `${name.padEnd(34)}${cells.map((cell) => cell.padEnd(19)).join("")}`.trimEnd();
}

describe("the golden decision matrix", () => {
  it("is what the engine decides", () => {
    const drawn = matrix(byEngine);
    if (process.env["SALLYPORT_UPDATE"] === "1") writeFileSync(FILE, drawn);
    expect(drawn).toBe(readFileSync(FILE, "utf8"));
  });

  it("is what the reference model decides", () => {
    expect(matrix(byReference)).toBe(readFileSync(FILE, "utf8"));
  });

  it("shows every code that can be shown, and none that is said not to be", () => {
    const text = readFileSync(FILE, "utf8");
    const shown = Object.keys(CHECK_CODES).filter((code) => new RegExp(`\\b${code}\\b`).test(text));
    const expected = Object.keys(CHECK_CODES).filter((code) => !Object.hasOwn(NOT_IN_MATRIX, code));
    expect(shown).toEqual(expected);
  });

  it("has a block for every mode, a row for every source and a column for every legal pair, and nothing else", () => {
    const blocks = readFileSync(FILE, "utf8")
      .split(/^mode /m)
      .slice(1);
    expect(blocks.map((block) => block.split("\n")[0])).toEqual([...PERMISSION_MODES]);
    for (const block of blocks) {
      const [, header, ...rows] = block.split("\n").filter((line) => line !== "");
      expect(header?.trim().split(/\s{2,}/)).toEqual(COLUMNS);
      expect(rows.map((line) => line.slice(0, 34).trim())).toEqual(Object.keys(SOURCES));
    }
  });
});
