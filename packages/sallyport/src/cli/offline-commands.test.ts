/** Commands that need no service, each as a real process. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type BundledCli, type CliOptions, bundleCli, runCli } from "../testing/cli-process.ts";

let cli: BundledCli;
let folder: string;
beforeAll(async () => {
  cli = await bundleCli();
});
afterAll(() => cli.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-offline-"));
  return () => rmSync(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], options: CliOptions = {}) =>
  runCli(cli, args, { cwd: folder, ...options });
const write = (name: string, value: unknown): void =>
  writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));

const receive = (target: string, examples?: object) => ({
  resource_type: "network",
  operation: "receive",
  target,
  ...(examples === undefined ? {} : { examples }),
});

describe("sallyport manifest", () => {
  it("writes a manifest that it finds nothing wrong with, and never over another", async () => {
    expect((await run(["manifest", "init", "--name", "reports"])).code).toBe(0);
    const text = readFileSync(join(folder, "manifest.json"), "utf8");
    expect(JSON.parse(text)).toMatchObject({ name: "reports" });
    expect((await run(["manifest", "lint", "--strict"])).stdout).toContain("0 faults, 0 warnings");
    const tested = await run(["manifest", "test"]);
    expect([tested.code, tested.stdout.split("\n").at(-2)]).toEqual([0, "5 examples hold, 0 do not"]);
    const again = await run(["manifest", "init"]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("is there already")]);
    expect(readFileSync(join(folder, "manifest.json"), "utf8")).toBe(text);
  });

  it("names every fault with its pointer and what to write instead", async () => {
    write("manifest.json", {
      access: [{ resource_type: "url", operation: "get", target: "x" }],
      runtime: {},
    });
    const { code, stdout } = await run(["manifest", "lint"]);
    expect(code).toBe(6);
    expect(stdout).toContain("/access/0/resource_type");
    expect(stdout).toContain("/runtime");
    const json = JSON.parse((await run(["manifest", "lint", "--json"])).stdout) as {
      faults: { instead: string }[];
    };
    expect(json.faults.every(({ instead }) => instead !== "")).toBe(true);
  });

  it("fails where an example does not hold, and lint says so too", async () => {
    write("manifest.json", {
      access: [receive("https://api.example.com/v1", { match: ["https://api.example.com/v1/reports"] })],
    });
    const tested = await run(["manifest", "test", "--json"]);
    expect(tested.code).toBe(6);
    expect(JSON.parse(tested.stdout)).toEqual({
      ok: false,
      examples: [
        {
          pointer: "/access/0/examples/match/0",
          target: "https://api.example.com/v1/reports",
          list: "match",
          holds: false,
        },
      ],
    });
    expect((await run(["manifest", "lint"])).code).toBe(6);
  });

  it("explains each entry in words, and one access by asking the engine", async () => {
    write("manifest.json", { name: "reports", access: [receive("https://api.example.com/v1/")] });
    const all = await run(["manifest", "explain"]);
    expect(all.stdout).toContain("module reports may, when it runs:");
    expect(all.stdout).toContain("every path below it on that origin");
    const one = (target: string) =>
      run(["manifest", "explain", "manifest.json", "network", "receive", target]);
    expect([
      (await one("https://api.example.com/v1/x")).code,
      (await one("https://api.example.com/v2")).code,
    ]).toEqual([0, 8]);
    expect((await one("ftp://api.example.com")).code).toBe(6);
  });

  it("hostile text in a manifest cannot reach the terminal", async () => {
    write("manifest.json", {
      access: [
        { "\u001b]0;owned\u0007": 1, resource_type: "\u001b[2J", operation: "\u202e", target: "\u009b31m" },
      ],
    });
    for (const args of [["lint"], ["test"], ["explain"], ["lint", "--json"]]) {
      const { stdout, stderr } = await run(["manifest", ...args]);
      expect(stdout + stderr).toContain("{1b}".replace("{1b}", "1b"));
      expect(`${stdout}${stderr}`).not.toMatch(/[\p{Cc}\p{Cf}](?<!\n)/u);
    }
  });

  it("says what to do where there is no manifest", async () => {
    const { code, stderr } = await run(["manifest", "lint", "nowhere.json"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("sallyport manifest init")]);
  });
});

describe("sallyport doctor", () => {
  it("says of each part whether it is there, and how to get it where it is not", async () => {
    const { code, stdout } = await run(["doctor", "--json"]);
    const { ok, findings } = JSON.parse(stdout) as {
      ok: boolean;
      findings: { name: string; state: string; next: string | null }[];
    };
    expect(findings.map(({ name }) => name)).toEqual([
      "Node",
      "embedded store",
      "kernel",
      "wall: launcher",
      "wall: Landlock",
      "wall: namespaces",
      "wall: seccomp",
      "wall: network",
      "control groups",
      "admin socket",
      "data folder",
    ]);
    expect(findings.filter(({ state, next }) => (state === "lacks") !== (next !== null))).toEqual([]);
    expect(code).toBe(ok ? 0 : 11);
  });

  it("says that there is no wall where the launcher cannot be built, and what to install", async () => {
    const env = { SALLYPORT_CC: "no-such-compiler", SALLYPORT_CACHE: "/nonexistent" };
    const { code, stdout } = await run(["doctor", "--json"], { env });
    const { findings } = JSON.parse(stdout) as {
      findings: { name: string; state: string; found: string; next: string | null }[];
    };
    expect(code).toBe(11);
    expect(findings.find(({ name }) => name === "admin socket")).toMatchObject({
      state: "later",
      found: expect.stringMatching(/^who connects is not read.*install a C compiler/),
    });
    expect(findings.find(({ name }) => name === "wall: launcher")).toMatchObject({
      state: "lacks",
      next: expect.stringContaining("install a C compiler"),
    });
  });
});

describe("the command line", () => {
  it("lists its commands in groups, each with its description beside it", async () => {
    const { code, stdout } = await run(["--help"]);
    const lines = stdout.split("\n");
    expect(code).toBe(0);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => /^[A-Z].*:$/.test(line))).toEqual([
      "Options:",
      "Run:",
      "Decide:",
      "Declare and try out:",
      "Look back:",
      "Policy:",
      "This machine:",
    ]);
    expect(stdout).toMatch(/^ {2}approve \[ids…\] +approve requests/m);
    expect(stdout).toMatch(/^ {2}check +say what would happen/m);
    const headings = (await run(["admin", "--help"])).stdout.match(/^[A-Z].*:$/gm);
    expect(headings).toEqual(["Options:", "Commands:"]);
    expect((await run(["run", "--help"])).stdout).not.toMatch(/default:|600000|\[object/);
  });

  it("says what is wrong with hostile arguments without printing what they do", async () => {
    const { code, stderr } = await run(["\u001b[2Jreq\u202eests"]);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/[\p{Cc}\p{Cf}](?<!\n)/u);
    expect(stderr).toContain("\\u{1b}");
  });

  it("never asks a question of a folder that is not there, nor makes one", async () => {
    const { code, stderr } = await run(["requests"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("`sallyport up` makes one")]);
    expect((await run(["requests", "--json"])).stdout).toContain('"exit":3');
  });

  it("prints no colour into a pipe", async () => {
    const { stdout } = await run(["doctor"], { env: { FORCE_COLOR: "1", TERM: "xterm-256color" } });
    expect(stdout).not.toContain("\u001b");
  });

  it("refuses to decide for a program that was started with a gate", async () => {
    const { code, stderr } = await run(["approve", "request-1"], { env: { SALLYPORT_GATE_FD: "3" } });
    expect([code, stderr]).toEqual([4, expect.stringContaining("guarded code may not decide")]);
  });
});
