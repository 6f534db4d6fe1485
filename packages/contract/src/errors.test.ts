import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHECK_CODES } from "./decision.ts";
import {
  AccessPendingError,
  ERROR_CODES,
  type ErrorCode,
  ExternalAccessError,
  PermissionError,
} from "./errors.ts";
import { FAULT_CODES } from "./parsed.ts";
import { externalAccessCheckWire } from "./wire/external-access-check.ts";
import { requestIdSchema } from "./wire/identifier.ts";

const FOLDER = new URL("../../../docs/errors/", import.meta.url);
const CODES = Object.keys(ERROR_CODES) as ErrorCode[];
const pageOf = (name: string): string => readFileSync(new URL(name, FOLDER), "utf8");

function checkOf(message: string) {
  const parsed = externalAccessCheckWire.parse({
    allowed: false,
    requires_approval: true,
    code: "approval_required",
    message,
    decision: {
      id: "d1",
      decision: "asked",
      decision_reason: "undecided",
      rule_refs: [],
      updated_input_ref: null,
      approval_action_id: null,
      expires_at: null,
      scope: null,
      destructive: false,
      impact_scope: "s",
      rollback_advice: "a",
      decision_source: "mode",
    },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.value;
}

describe("the table of codes", () => {
  it("holds every code of a check and of a fault", () => {
    expect(CODES).toEqual(expect.arrayContaining([...Object.keys(CHECK_CODES), ...FAULT_CODES]));
  });

  it("has a page for every code, and no page for anything else", () => {
    const pages = readdirSync(FOLDER).filter((file) => file !== "README.md");
    expect(pages.toSorted()).toEqual(CODES.map((code) => `${code}.md`).toSorted());
  });

  it("gives each page its title, and each page says what to do and shows an example", () => {
    for (const code of CODES) {
      const page = pageOf(`${code}.md`);
      const { title } = ERROR_CODES[code];
      expect(
        page.startsWith(`# \`${code}\`\n\n${title.charAt(0).toUpperCase()}${title.slice(1)}.\n`),
        code,
      ).toBe(true);
      for (const heading of ["## What it means", "## What to do", "## Example"])
        expect(page, code).toContain(heading);
    }
  });

  it("is the index, line by line", () => {
    const listed = [...pageOf("README.md").matchAll(/^\| \[`(\w+)`\]\((\w+)\.md\) \| (.+) \|$/gm)].map(
      (match) => match.slice(1),
    );
    const expected = CODES.map((code) => [code, code, ERROR_CODES[code].title]);
    expect(new Set(listed.map((row) => row.join("|")))).toEqual(
      new Set(expected.map((row) => row.join("|"))),
    );
  });
});

describe("errors", () => {
  it("carry the check, a stable code, and name every blocked part", () => {
    const error = new ExternalAccessError(checkOf("delete of `/a`"), checkOf("create of `/b`"));
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.message]).toEqual([
      "ExternalAccessError",
      "ERR_ACCESS_DENIED",
      "delete of `/a`; create of `/b`",
    ]);
    expect(error.blocked.map(({ message }) => message)).toEqual(["delete of `/a`", "create of `/b`"]);
    expect(error.check).toBe(error.blocked[0]);
  });

  it("of a pending access are blocked accesses that name their request", () => {
    const error = new AccessPendingError({ check: checkOf("m"), requestId: requestIdSchema.parse("req-1") });
    expect(error).toBeInstanceOf(ExternalAccessError);
    expect([error.name, error.code, error.requestId]).toEqual([
      "AccessPendingError",
      "ERR_ACCESS_DENIED",
      "req-1",
    ]);
  });

  it("of missing authority say what it takes", () => {
    const error = new PermissionError("approve external access");
    expect([error.name, error.code]).toEqual(["PermissionError", "permission_error"]);
    expect(error.message).toMatch(/^the acting user may not approve external access: .*[^.]$/);
  });
});
