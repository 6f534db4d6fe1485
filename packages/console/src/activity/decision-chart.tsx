/** Decisions over time as stacked bars, drawn here: no library, no inline style; the same numbers as a table. */
import { OUTCOMES, type Outcome } from "@sallyport/contract";
import type { AdminEventFilter } from "@sallyport/contract/admin";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { admin } from "../data/late-admin.ts";
import { OUTCOME_WORDS } from "../display/words.ts";
import { Sheet } from "../parts/page.tsx";
import { type Bar, barsOf } from "./chart-bars.ts";
import { RANGES, type RangeName } from "./audit-search.ts";

const FILLS: Readonly<Record<Outcome, string>> = {
  allowed: "fill-good",
  sandboxed: "fill-good opacity-60",
  asked: "fill-accent",
  denied: "fill-danger",
  unavailable: "fill-warn",
};
const DOTS: Readonly<Record<Outcome, string>> = {
  allowed: "bg-good",
  sandboxed: "bg-good opacity-60",
  asked: "bg-accent",
  denied: "bg-danger",
  unavailable: "bg-warn",
};

const WIDTH = 960;
const HEIGHT = 120;

export function DecisionChart({
  range,
  filter,
  onRange,
}: {
  readonly range: RangeName;
  readonly filter: AdminEventFilter;
  readonly onRange: (range: RangeName) => void;
}): ReactNode {
  const { spanMs, bucketMs } = RANGES[range];
  const stats = useQuery({
    queryKey: ["stats", range, filter],
    queryFn: async () => {
      // WHY whole spans: the bars then stand where the server cuts them.
      const toMs = Math.floor(Date.now() / bucketMs) * bucketMs + bucketMs;
      const fromMs = toMs - spanMs;
      return barsOf(await admin.eventStats(bucketMs, { ...filter, fromMs, toMs }), { fromMs, toMs });
    },
  });
  const bars = stats.data ?? [];
  const totals = OUTCOMES.map((outcome) => ({
    outcome,
    count: bars.reduce((sum, bar) => sum + bar.counts[outcome], 0),
  })).filter(({ count }) => count > 0);
  return (
    <Sheet className="mb-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pt-3">
        <h2 className="text-sm font-semibold">Decisions</h2>
        <ul className="flex flex-1 flex-wrap gap-x-4 gap-y-1 text-xs text-ink-2">
          {totals.map(({ outcome, count }) => (
            <li key={outcome} className="flex items-center gap-1.5">
              <span aria-hidden className={`size-2.5 rounded-sm ${DOTS[outcome]}`} />
              {OUTCOME_WORDS[outcome].label}{" "}
              <span className="font-semibold text-ink">{count.toLocaleString("en")}</span>
            </li>
          ))}
        </ul>
        <div role="group" aria-label="Span of time" className="flex gap-1">
          {(Object.keys(RANGES) as RangeName[]).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === range}
              onClick={() => onRange(name)}
              className={`rounded px-2 py-0.5 text-xs ${name === range ? "bg-accent-soft font-medium text-accent" : "text-ink-2 hover:bg-sunken"}`}
            >
              {RANGES[name].label}
            </button>
          ))}
        </div>
      </div>
      <div className="px-4 pt-2 pb-3">
        <Bars bars={bars} label={chartLabel(totals, RANGES[range].label)} />
        {bars.length === 0 ? null : (
          <div className="flex justify-between text-xs text-ink-3">
            <span>{clockText(bars[0]?.fromMs ?? 0, spanMs)}</span>
            <span>now</span>
          </div>
        )}
      </div>
    </Sheet>
  );
}

function Bars({ bars, label }: { readonly bars: readonly Bar[]; readonly label: string }): ReactNode {
  const most = Math.max(1, ...bars.map(({ total }) => total));
  const step = WIDTH / Math.max(1, bars.length);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-24 w-full"
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className="stroke-line" />
      {bars.map((bar, index) => {
        let top = HEIGHT;
        return OUTCOMES.filter((outcome) => bar.counts[outcome] > 0).map((outcome) => {
          const height = (bar.counts[outcome] / most) * (HEIGHT - 4);
          top -= height;
          return (
            <rect
              key={`${index} ${outcome}`}
              x={index * step + step * 0.1}
              width={step * 0.8}
              y={top}
              height={height}
              className={FILLS[outcome]}
            >
              <title>{`${bar.counts[outcome]} ${outcome}, ${clockText(bar.fromMs, 0)}`}</title>
            </rect>
          );
        });
      })}
    </svg>
  );
}

function chartLabel(
  totals: readonly { readonly outcome: Outcome; readonly count: number }[],
  span: string,
): string {
  if (totals.length === 0) return `No decisions in the last ${span}`;
  const parts = totals.map(({ outcome, count }) => `${count} ${outcome}`);
  return `Decisions in the last ${span}: ${parts.join(", ")}`;
}

const DAY_MS = 86_400_000;
const clockText = (ms: number, spanMs: number): string =>
  new Date(ms).toLocaleString(
    "en-GB",
    spanMs >= DAY_MS * 2 ? { dateStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" },
  );
