/**
 * Production against the model that was written from the specification alone.
 */
import { describe, expect, it } from "vitest";
import { caseCount } from "./testing/case-count.ts";
import { compareCases } from "./testing/compare-with-reference.ts";

const CASES = caseCount(200_000);

describe("decide and the reference model", () => {
  it("agree on 200 000 random cases", () => {
    const result = compareCases({ cases: CASES, first: 1 });
    expect(result.disagreements).toEqual([]);
    expect(result.cases).toBeGreaterThanOrEqual(CASES);
  });
});
