/** What the README shows is run: its code as a program, its pictures and links as files that exist. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");

describe("the README", () => {
  it("shows code that runs and prints what it says", () => {
    const [, code = ""] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
    const [, promised] = /console\.log\(.*\); \/\/ (\w+)/.exec(code) ?? [];
    // WHY: inside the repository, so that package names resolve.
    const folder = mkdtempSync(join(root, "node_modules", ".readme-"));
    try {
      writeFileSync(join(folder, "readme.mjs"), code);
      const printed = execFileSync(process.execPath, [join(folder, "readme.mjs")], { encoding: "utf8" });
      expect(printed.trim()).toBe(promised);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    "README.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    ...markdownIn("docs"),
  ])("and its neighbours link only to files that exist: %s", (file) => {
    const text = readFileSync(join(root, file), "utf8");
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    expect(local.filter((link) => !existsSync(join(root, file, "..", link)))).toEqual([]);
  });
});

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}
