/** What the launcher reads and what it makes of it, under the address and undefined-behaviour sanitizers, on seeds and their mutations. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBytes } from "./launch-description.ts";
import { assembleFilter, filterBytes } from "./seccomp/assemble-filter.ts";
import { filterRules } from "./seccomp/filter-rule.ts";
import { sampleConfinement } from "./testing/sample-profile.ts";

const NATIVE = fileURLToPath(new URL("../native/", import.meta.url));
const ROUNDS = Number(process.env["SALLYPORT_FUZZ_ROUNDS"] ?? 60_000);
const WALKS = Number(process.env["SALLYPORT_FUZZ_ROUNDS"] ?? 6_000);
const LAUNCHER_LINES_MAX = 2500;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sp-fuzz-"));
});

function build(...files: readonly string[]): string {
  const program = join(folder, `${files[0]}.program`);
  const flags = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DSELF_DRIVEN"];
  const sources = files.map((file) => join(NATIVE, file));
  execFileSync("cc", ["-std=gnu11", "-Wall", "-Wextra", "-Werror", ...flags, "-o", program, ...sources]);
  return program;
}
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function seed(): Buffer {
  return launchBytes({
    program: "/bin/sh",
    args: ["sh", "-c", "true"],
    environment: { PATH: "/bin" },
    cwd: "/tmp",
    confinement: sampleConfinement("all"),
    filter: filterBytes(assembleFilter(filterRules("all"), "x64")),
    limits: { openFilesMax: 10 },
    wallMs: 1000,
    ownsTerminal: false,
  });
}

test("no bytes make the parsers read or write where they must not", () => {
  const fuzz = build("fuzz-parsers.c", "launch-description.c", "path-text.c");
  const file = join(folder, "seed");
  writeFileSync(file, seed());
  const options = { encoding: "utf8" as const, env: { ...process.env, ASAN_OPTIONS: "detect_leaks=0" } };
  expect(execFileSync(fuzz, [String(ROUNDS), file], options)).toBe(`${ROUNDS} rounds from 6 seeds\n`);
});

test("no walk through links, roots and missing names leads elsewhere than the kernel's own", () => {
  const fuzz = build("fuzz-places.c", "place.c", "path-text.c");
  const place = join(folder, "place");
  mkdirSync(place);
  const options = { encoding: "utf8" as const, env: { ...process.env, ASAN_OPTIONS: "detect_leaks=0" } };
  expect(execFileSync(fuzz, [String(WALKS), place], options)).toBe(`${WALKS} rounds of walks\n`);
});

test("no call of a hostile program is read wrongly, and none passes without the parts it means", () => {
  const fuzz = build("fuzz-calls.c", "trapped-call.c", "parts.c", "path-text.c");
  const options = { encoding: "utf8" as const, env: { ...process.env, ASAN_OPTIONS: "detect_leaks=0" } };
  expect(execFileSync(fuzz, [String(ROUNDS)], options)).toBe(`${ROUNDS} rounds of calls\n`);
});

test("the launcher stays small: all of it below 2500 lines", () => {
  const files = readdirSync(NATIVE).filter((name) => /\.[ch]$/.test(name) && !name.startsWith("fuzz-"));
  const lines = files.map((name) => readFileSync(join(NATIVE, name), "utf8").split("\n").length - 1);
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThan(LAUNCHER_LINES_MAX);
});
