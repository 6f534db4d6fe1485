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
 * @typedef {object} Report the part of vitest's JSON report that is counted
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {readonly { status: string, assertionResults: readonly { status: string }[] }[]} testResults one per file
 */

/**
 * Beside failed tests these count as failures: a file that did not load, a test that did not run (where a machine
 * cannot run a test, the run fails), and a run that failed for any other reason.
 * @param {number} code @param {Report | undefined} report @param {boolean} filtered whether the caller chose the tests
 * @returns {import("./tally.mjs").Tally}
 */
export function count(code, report, filtered) {
  if (report === undefined) return { passed: 0, failed: 1 };
  const notLoaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && assertionResults.every((assertion) => assertion.status !== "failed"),
  ).length;
  const notRun = filtered ? 0 : report.numPendingTests + report.numTodoTests;
  if (notRun > 0) console.error(`${notRun} tests did not run: a test passes or fails, it is never skipped`);
  const failed = report.numFailedTests + notLoaded + notRun;
  return { passed: report.numPassedTests, failed: code !== 0 && failed === 0 ? 1 : failed };
}
