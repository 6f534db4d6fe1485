import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SCRIPT = fileURLToPath(new URL("../../examples/first-decision/run.mjs", import.meta.url));
const WANTED = /customer\.csv` is /;

/** The codes of the checks, in order, and what was read. */
function run(answer: string): { codes: string[]; read: string[]; asked: string[] } {
  const printed = execFileSync(process.execPath, [SCRIPT, "--answer", answer], {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "" },
  });
  const lines = printed.split("\n").map((line) => line.trim());
  return {
    codes: lines.flatMap((line) => /^[✔✘] (\w+) /.exec(line)?.[1] ?? []),
    read: lines.filter((line) => line.startsWith('"')),
    asked: lines.filter((line) => WANTED.test(line)),
  };
}

describe("the first decision", () => {
  const before = [
    "allowed_sandbox",
    "approval_required",
    "approval_required",
    "approval_required",
    "approval_required",
    "invalid_target",
    "approval_required",
  ];

  it.each([
    ["once", "allowed_session"],
    ["session", "allowed_session"],
    ["permanent", "allowed_permanent"],
  ])("goes on when it is approved: %s", (answer, code) => {
    const { codes, read } = run(answer);
    expect(codes).toEqual([...before, code, "approval_required"]);
    expect(read).toHaveLength(2);
  });

  it("is told no when it is denied, and reads nothing", () => {
    const { codes, read, asked } = run("deny");
    expect(codes).toEqual([...before, "resource_disabled"]);
    expect(read).toHaveLength(1);
    expect(asked.at(-1)).toContain("do not retry");
  });

  it("says what it takes where an answer is none", () => {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, "--answer", "maybe"], {
      encoding: "utf8",
    });
    expect(status).toBe(2);
    expect(stderr).toBe("--answer must be one of once, session, permanent, deny, not `maybe`\n");
  });
});
