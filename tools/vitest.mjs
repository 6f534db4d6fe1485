// @ts-check
/** Purpose: one vitest run on one Node, shown on the terminal and counted. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, run } from "./setup.mjs";

/**
 * @param {{ args?: readonly string[], projects?: readonly string[], nodeBin?: string, filtered?: boolean }} options
 * @returns {Promise<import("./tally.mjs").Tally>}
 */
export async function runVitest({ args = [], projects = [], nodeBin, filtered = false }) {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-vitest-"));
  const report = join(folder, "report.json");
  try {
    const code = await run(
      bin("vitest"),
      [
        "run",
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${report}`,
        ...projects.map((project) => `--project=${project}`),
        ...args,
      ],
      { nodeBin },
    );
    return count(code, existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined, filtered);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A run that failed without a failed test (a file that does not load, an unhandled rejection) counts as one failure,
 * and so does a test that did not run: where a machine cannot run a test, the run fails.
 * @param {number} code
 * @param {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number } | undefined} report
 * @param {boolean} filtered
 */
export function count(code, report, filtered) {
  if (report === undefined) return { passed: 0, failed: 1 };
  const passed = report.numPassedTests;
  let failed = report.numFailedTests;
  const skipped = filtered ? 0 : report.numPendingTests + report.numTodoTests;
  if (skipped > 0) {
    console.error(`${skipped} tests did not run: a test passes or fails, it is never skipped`);
    failed += skipped;
  }
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}
