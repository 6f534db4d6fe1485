// @ts-check
/**
 * Purpose: prove that the type-aware part of lint ran. oxlint finds tsgolint through the working directory and
 * says nothing where it does not, so the seeded faults of tools/fixtures/lint must be reported.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, capture, root } from "./setup.mjs";

const SEEDED = Object.freeze([
  { file: "floating.ts", rule: "no-floating-promises" },
  { file: "misused.ts", rule: "no-misused-promises" },
]);

/** @param {import("./setup.mjs").RunOptions} [options] @returns {Promise<{ code: number, output: string }>} */
export async function proveTypeAware(options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-lint-"));
  try {
    const { ignorePatterns: _ignored, ...config } = JSON.parse(
      readFileSync(join(root, ".oxlintrc.json"), "utf8"),
    );
    writeFileSync(join(folder, "oxlintrc.json"), JSON.stringify(config));
    const fixtures = join(root, "tools", "fixtures", "lint");
    const args = ["-c", join(folder, "oxlintrc.json"), "-f", "unix", fixtures];
    const { output } = await capture(bin("oxlint"), args, options);
    const missing = SEEDED.filter(({ file, rule }) => !isReported(output, file, rule));
    const faults = missing.map(
      ({ file, rule }) => `lint did not report ${rule} in tools/fixtures/lint/${file}`,
    );
    return {
      code: faults.length === 0 ? 0 : 1,
      output: faults.length === 0 ? "" : [...faults, output].join("\n"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} output @param {string} file @param {string} rule */
const isReported = (output, file, rule) =>
  output.split("\n").some((line) => line.includes(`${file}:`) && line.includes(`(${rule})`));
