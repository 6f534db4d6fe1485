import { describe, expect, it, vi } from "vitest";
import { sum } from "../../tools/tally.mjs";
import { count } from "../../tools/vitest.mjs";

const report = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };

describe("the closing line", () => {
  it("counts what vitest reports", () => {
    expect(count(0, report, false)).toEqual({ passed: 3, failed: 0 });
    expect(count(1, { ...report, numFailedTests: 2 }, false)).toEqual({ passed: 3, failed: 2 });
  });

  it("counts a run that failed without a failed test", () => {
    expect(count(1, report, false)).toEqual({ passed: 3, failed: 1 });
  });

  it("counts a file that did not load, beside failed tests", () => {
    const testResults = [
      { status: "passed", assertionResults: [{ status: "passed" }] },
      { status: "failed", assertionResults: [{ status: "failed" }] },
      { status: "failed", assertionResults: [] },
    ];
    expect(count(1, { ...report, numFailedTests: 1, testResults }, false)).toEqual({ passed: 3, failed: 2 });
  });

  it("counts a run that left no report as failed", () => {
    expect(count(0, undefined, false)).toEqual({ passed: 0, failed: 1 });
  });

  it("counts a test that did not run as failed, unless the caller chose which tests run", () => {
    const silence = vi.spyOn(console, "error").mockImplementation(() => undefined);
    expect(count(0, { ...report, numPendingTests: 1 }, false)).toEqual({ passed: 3, failed: 1 });
    expect(count(0, { ...report, numPendingTests: 1 }, true)).toEqual({ passed: 3, failed: 0 });
    silence.mockRestore();
  });

  it("adds up", () => {
    expect(
      sum([
        { passed: 1, failed: 0 },
        { passed: 2, failed: 3 },
      ]),
    ).toEqual({ passed: 3, failed: 3 });
  });
});
