/**
 * The reach of the generated cases: what they never meet, no comparison can find.
 */
import { CHECK_CODES, type CheckCode, PERMISSION_MODES } from "@sallyport/contract";
import { describe, expect, test } from "vitest";
import type { AccessRule } from "../question.ts";
import { type Case, makeCase, prng } from "./arbitrary-world.ts";
import { referenceDecide } from "./reference-decide.ts";

describe("generated cases", () => {
  const cases = Array.from({ length: 20_000 }, (_, seed) => makeCase(prng(seed)));
  const verdictOf = ({ world, context, question }: Case) => referenceDecide(world, context, question);

  test("every code that a decision can have occurs at least 20 times", () => {
    const counts = new Map<CheckCode, number>();
    for (const { code } of cases.map(verdictOf)) counts.set(code, (counts.get(code) ?? 0) + 1);
    const expected = Object.keys(CHECK_CODES).filter(
      (code) => !["request_limit", "approval_timeout"].includes(code),
    );
    expect([...counts.keys()].toSorted()).toEqual(expected.toSorted());
    expect(Math.min(...counts.values())).toBeGreaterThanOrEqual(20);
  });

  test("every mode is met by an allow", () => {
    const allowed = cases.filter((one) => CHECK_CODES[verdictOf(one).code] === "allowed");
    expect(new Set(allowed.map(({ context }) => context.mode))).toEqual(new Set(PERMISSION_MODES));
  });

  test("every form of a declared pattern allows something alone", () => {
    const forms = new Set(cases.flatMap(formsThatAllow));
    expect([...forms].toSorted()).toEqual(
      [
        "directory",
        "folder",
        "host",
        "host:port",
        "name",
        "origin",
        "path",
        "query",
        "unix",
        "url",
      ].toSorted(),
    );
  });

  test("every match of an approval allows something alone", () => {
    const matches = new Set(cases.flatMap(matchesThatAllow));
    expect([...matches].toSorted()).toEqual(
      ["any_query", "directory", "endpoint", "exact", "origin", "path_prefix"].toSorted(),
    );
  });

  test("the same seed gives the same case", () => {
    expect(makeCase(prng(7))).toEqual(makeCase(prng(7)));
  });

  /** The forms of those declared rules that allow a case with no other rule beside them. */
  function formsThatAllow(one: Case): string[] {
    if (verdictOf(one).code !== "allowed_sandbox") return [];
    const rules = one.world.contracts.flatMap((contract) => contract.access);
    return rules.filter((only) => isAllowedBy(one, only)).map(formOf);
  }

  function isAllowedBy(one: Case, only: AccessRule): boolean {
    const contracts = one.world.contracts.map(({ id }) => ({ id, access: [only] }));
    return (
      verdictOf({ ...one, world: { ...one.world, contracts, approvals: [] } }).code === "allowed_sandbox"
    );
  }

  function matchesThatAllow(one: Case): string[] {
    const { code } = verdictOf(one);
    if (code !== "allowed_session" && code !== "allowed_permanent") return [];
    return one.world.approvals
      .filter((only) => verdictOf({ ...one, world: { ...one.world, approvals: [only] } }).code === code)
      .map(({ match }) => match);
  }

  function formOf({ resourceType, target }: AccessRule): string {
    if (resourceType === "system_dependency") return "name";
    if (resourceType === "filesystem") return target.endsWith("/") ? "directory" : "path";
    if (target.startsWith("unix:")) return "unix";
    if (!target.includes("://")) return /:\d+$/.test(target) ? "host:port" : "host";
    if (target.includes("?")) return "query";
    if (!/:\/\/.*[/\\]/.test(target)) return "origin";
    return target.endsWith("/") ? "folder" : "url";
  }
});
