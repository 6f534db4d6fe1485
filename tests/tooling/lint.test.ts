/** Purpose: see lint fail on what the house forbids, with the configuration of the house. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { proveTypeAware } from "../../tools/lint-guard.mjs";
import { bin, root } from "../../tools/setup.mjs";

const SEEDS = [
  ["no-restricted-globals", "packages/policy/src/clock.ts", "export const now = () => new Date();"],
  ["no-restricted-properties", "packages/contract/src/clock.ts", "export const now = () => Date.now();"],
  ["no-restricted-properties", "packages/policy/src/chance.ts", "export const chance = () => Math.random();"],
  ["no-default-export", "packages/gate/src/door.ts", "export default 1;"],
  ["no-explicit-any", "packages/gate/src/loose.ts", "export const loose = (value: any) => value;"],
  ["await-thenable", "packages/gate/src/wait.ts", "export async function wait() { await 1; }"],
  [
    "switch-exhaustiveness-check",
    "packages/gate/src/partial.ts",
    'export function partial(kind: "a" | "b") { switch (kind) { case "a": return 1; } return 2; }',
  ],
] as const;

const CLEAN = [
  ["packages/policy/src/clock.test.ts", "export const now = () => Date.now() + Math.random();"],
  ["packages/gate/src/clock.ts", "export const now = () => Date.now();"],
  ["vitest.config.ts", "export default {};"],
] as const;

describe("lint", () => {
  let tree = "";
  let report: readonly string[] = [];

  beforeAll(() => {
    tree = mkdtempSync(join(tmpdir(), "sallyport-lint-"));
    copyFileSync(join(root, ".oxlintrc.json"), join(tree, ".oxlintrc.json"));
    symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
    for (const [path, text] of [...SEEDS.map((seed) => [seed[1], seed[2]] as const), ...CLEAN]) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), `${text}\n`);
    }
    report = spawnSync(bin("oxlint"), ["-f", "unix"], { cwd: tree, encoding: "utf8" }).stdout.split("\n");
  });
  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  it.each(SEEDS)("reports %s in %s", (rule, path) => {
    expect(report.filter((line) => line.startsWith(`${path}:`) && line.includes(`(${rule})`))).toHaveLength(
      1,
    );
  });

  it.each(CLEAN)("accepts %s", (path) => {
    expect(report.filter((line) => line.startsWith(`${path}:`))).toEqual([]);
  });
});

describe("the guard of lint", () => {
  it("passes where the seeded promises are reported", async () => {
    expect(await proveTypeAware()).toEqual({ code: 0, output: "" });
  });

  it("fails where the type-aware part does not run", async () => {
    const elsewhere = { cwd: tmpdir(), env: { PATH: dirname(process.execPath) } };
    const { code, output } = await proveTypeAware(elsewhere);
    expect(code).toBe(1);
    expect(output).toContain("lint did not report no-floating-promises");
  });
});
