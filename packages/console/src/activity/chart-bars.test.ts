import type { EventStats } from "@sallyport/contract/admin";
import { expect, it } from "vitest";
import { barsOf } from "./chart-bars.ts";

it("shows spans without decisions as empty, and leaves out what lies beyond the ends", () => {
  const at = (ms: number): string => new Date(ms).toISOString();
  const stats = {
    bucketMs: 1000,
    buckets: [
      { from: at(0), decision: "allowed", count: 9 },
      { from: at(2000), decision: "asked", count: 2 },
      { from: at(2000), decision: "denied", count: 1 },
      { from: at(9000), decision: "denied", count: 5 },
    ],
  } as unknown as EventStats;
  const bars = barsOf(stats, { fromMs: 1000, toMs: 4000 });
  expect(bars.map(({ fromMs, total }) => [fromMs, total])).toEqual([
    [1000, 0],
    [2000, 3],
    [3000, 0],
  ]);
  expect(bars[1]?.counts).toMatchObject({ asked: 2, denied: 1, allowed: 0 });
});
