/**
 * Production against the model that was written from the specification alone.
 */
import { describe, expect, it } from "vitest";
import { compareCases } from "./testing/compare-with-reference.ts";

describe("decide and the reference model", () => {
  it("agree on 200 000 random cases", () => {
    const result = compareCases({ cases: 200_000, first: 1 });
    expect(result.disagreements).toEqual([]);
    expect(result.cases).toBe(200_000);
  });
});
