/**
 * Purpose: the tests of the decision core as one project, for mutation testing.
 * Stryker works in a copy whose node_modules links back to the original packages, so names are led to the copy's own
 * sources here; otherwise a test that imports a package by name would never meet a mutant.
 */
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("../../", import.meta.url));

const alias = readdirSync(`${root}packages`).map((folder) => ({
  find: new RegExp(`^${JSON.parse(readFileSync(`${root}packages/${folder}/package.json`, "utf8")).name}$`),
  replacement: `${root}packages/${folder}/src/index.ts`,
}));

export default defineConfig({
  root,
  resolve: { alias },
  test: {
    include: ["packages/contract/src/target/*.test.ts", "packages/policy/src/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/parser-fuzz.test.ts"],
    // WHY: pure code; importing it anew for each file and mutant would take most of the time.
    isolate: false,
    testTimeout: 120_000,
  },
});
