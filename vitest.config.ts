/** Purpose: one vitest project per package, and one for the tests that cross packages. */
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Pure packages touch no globals, so their test files can share a process. */
const PURE = new Set(["contract", "policy"]);

/**
 * One file at a time, after the others. WHY: the kernel counts the processes of a user over all sandboxes, and hundreds of
 * another test must not be in the way of what is proved; and a browser takes a machine for itself.
 */
const ALONE = new Set(["sandbox", "browser"]);
/** WHY two: most tests wait for a child, a disk or a socket most of the time. */
const WORKERS = 2;

/** A browser is the same on every Node: these run once, on the Node of the run. */
const BROWSER = "tests/browser/**/*.test.ts";

const root = fileURLToPath(new URL(".", import.meta.url));
const packages = readdirSync(`${root}packages`).filter((name) =>
  existsSync(`${root}packages/${name}/package.json`),
);

/** Packages are tested from source: the `source` condition of their exports comes first. */
const conditions = ["source", "module", "node", "development|production"];

const project = (name: string, include: readonly string[], exclude: readonly string[] = []) => ({
  root,
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name,
    include: [...include],
    exclude: ["**/node_modules/**", "**/dist/**", ...exclude],
    pool: "forks" as const,
    isolate: !PURE.has(name),
    ...(ALONE.has(name) ? { maxWorkers: 1, sequence: { groupOrder: 1 } } : { maxWorkers: WORKERS }),
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // WHY: waiting is for something that comes; how long it takes is the machine's affair.
    expect: { poll: { timeout: 60_000 } },
  },
});

export default defineConfig({
  test: {
    projects: [
      ...packages.map((name) => project(name, [`packages/${name}/src/**/*.test.ts`])),
      project("tests", ["tests/**/*.test.ts"], [BROWSER]),
      project("browser", [BROWSER]),
    ],
  },
});
