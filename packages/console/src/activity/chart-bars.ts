/** Counts per span of time as bars, with the spans in which nothing happened. Pure. */
import { OUTCOMES, type Outcome } from "@sallyport/contract";
import type { EventStats } from "@sallyport/contract/admin";

export interface Bar {
  readonly fromMs: number;
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly total: number;
}

export function barsOf(
  { bucketMs, buckets }: EventStats,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly Bar[] {
  const length = Math.max(0, Math.ceil((toMs - fromMs) / bucketMs));
  const counts = Array.from({ length }, () => ({ ...NONE }));
  for (const { from, decision, count } of buckets) {
    const row = counts[Math.floor((Date.parse(from) - fromMs) / bucketMs)];
    if (row !== undefined) row[decision] += count;
  }
  return counts.map((row, index) => ({
    fromMs: fromMs + index * bucketMs,
    counts: row,
    total: OUTCOMES.reduce((sum, outcome) => sum + row[outcome], 0),
  }));
}

const NONE: Record<Outcome, number> = { allowed: 0, sandboxed: 0, asked: 0, denied: 0, unavailable: 0 };
