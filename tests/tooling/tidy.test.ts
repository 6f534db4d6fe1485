/** Purpose: see the tidy check fail, once for each of its rules. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { root } from "../../tools/setup.mjs";
import { inspectFile } from "../../tools/tidy.mjs";

/** Words that this file may not hold itself are written in halves. */
const halves = (...parts: readonly string[]) => parts.join("");
const lines = (count: number) => "x;\n".repeat(count);
const rulesIn = (file: string, text: string) => inspectFile(file, text).map(({ rule }) => rule);

describe("tidy", () => {
  it.each([
    ["a source file of 300 lines", "packages/policy/src/decide.ts", lines(300)],
    ["a test file of 500 lines", "packages/policy/src/decide.test.ts", lines(500)],
    ["a long document", "docs/glossary.md", lines(900)],
    ["an index with a module header", "packages/policy/src/index.ts", "/** Purpose. */\nexport {};\n"],
    ["an empty package", "packages/console/src/index.ts", "export {};\n"],
    ["a link of the workspace in a lock file", "package-lock.json", '"resolved": "packages/policy"'],
    ["a folder whose name ends like a machine's", "tools/x.mjs", "`${folder}/work/x` + 'a/root/b'"],
  ])("accepts %s", (_title, file, text) => {
    expect(rulesIn(file, text)).toEqual([]);
  });

  it.each([
    ["long-file", "packages/policy/src/decide.ts", lines(301)],
    ["long-file", "packages/policy/src/decide.test.ts", lines(501)],
    ["file-name", "packages/policy/src/decideAccess.ts", ""],
    ["file-name", "packages/policy/src/Decide.ts", ""],
    ["file-name", "packages/policy/src/utils.ts", ""],
    ["file-name", "packages/policy/src/types.test.ts", ""],
    ["file-name", "packages/policy/src/common.ts", ""],
    ["file-name", "packages/policy/src/manager.ts", ""],
    ["file-name", "packages/policy/src/helpers.ts", ""],
    ["left-over", "packages/policy/src/decide.ts", halves("// TO", "DO later")],
    ["left-over", "README.md", halves("FIX", "ME")],
    ["left-over", "tools/x.mjs", halves("// XX", "X")],
    ["test-not-run", "tests/x.test.ts", halves("it.on", "ly('x')")],
    ["test-not-run", "tests/x.test.ts", halves("describe.sk", "ip('x')")],
    ["test-not-run", "tests/x.test.ts", halves("it.to", "do('x')")],
    ["test-not-run", "tests/x.test.ts", halves("it.skip", "If(true)('x')")],
    ["test-not-run", "tests/x.test.ts", halves("it.on", "ly.each([])('x')")],
    ["machine-path", "docs/x.md", halves("see /ho", "me/someone/x")],
    ["machine-path", "tools/x.mjs", halves('"/ro', 'ot/x"')],
    ["machine-path", "bench/x.mjs", halves("'/wo", "rk/x'")],
    ["machine-path", "docs/x.md", halves("file:///wo", "rk/x")],
    ["registry", "docs/x.md", halves("https://registry.np", "mjs.org/zod")],
    [
      "download-address",
      "bench/peers/package-lock.json",
      halves('"resol', 'ved": "https://example.com/x.tgz"'),
    ],
    ["module-header", "packages/policy/src/index.ts", 'export { decide } from "./decide.ts";\n'],
  ])("reports %s in %s", (rule, file, text) => {
    expect(rulesIn(file, text)).toEqual([rule]);
  });

  it("says where", () => {
    expect(inspectFile("README.md", halves("a\nb\n// TO", "DO\n"))).toMatchObject([{ where: "README.md:3" }]);
  });
});

describe("tidy on a tree", () => {
  let tree = "";
  const plant = (files: Readonly<Record<string, string>>) => {
    tree = mkdtempSync(join(tmpdir(), "sallyport-tidy-"));
    spawnSync("git", ["init", "-q"], { cwd: tree });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), text);
    }
    return spawnSync(process.execPath, [join(root, "tools", "tidy.mjs"), tree], { encoding: "utf8" });
  };
  afterEach(() => rmSync(tree, { recursive: true, force: true }));

  it("inspects what git would take, and nothing else", () => {
    const { status, stdout } = plant({
      ".gitignore": "dist/\n",
      "README.md": "hello\n",
      "packages/policy/dist/x.js": halves("// TO", "DO\n"),
      "tools/fixtures/x.ts": halves("// TO", "DO\n"),
    });
    expect([status, stdout]).toEqual([0, "1 files, 0 findings\n"]);
  });

  it("fails where error codes have no pages", () => {
    const { status, stdout } = plant({ "packages/contract/src/errors.ts": "export const CODES = [];\n" });
    expect(status).toBe(1);
    expect(stdout).toContain("[error-pages]");
  });

  it("fails where it finds nothing to inspect", () => {
    expect(plant({}).status).toBe(1);
  });
});
