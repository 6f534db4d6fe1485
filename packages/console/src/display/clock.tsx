/** Ages and countdowns: one shared tick for the whole page, the exact instant on hover. */
import { type ReactNode, useSyncExternalStore } from "react";
import { spanText } from "./span-text.ts";

const TICK_MS = 1000;
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const heard of listeners) heard();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Steps: the text changes no more often than it can be read. */
const useNow = (stepMs: number): number =>
  useSyncExternalStore(subscribe, () => Math.floor(nowMs / stepMs) * stepMs);

export function Age({ at }: { readonly at: string }): ReactNode {
  const seconds = (useNow(5000) - Date.parse(at)) / 1000;
  return (
    <time dateTime={at} title={instantText(at)} className="whitespace-nowrap">
      {seconds < 10 ? "just now" : `${spanText(seconds)} ago`}
    </time>
  );
}

/** A moment to come; red in the last minutes. */
export function Countdown({ at, past }: { readonly at: string; readonly past: string }): ReactNode {
  const left = (Date.parse(at) - useNow(TICK_MS)) / 1000;
  const tone = left < 300 ? "text-danger font-medium" : "";
  return (
    <time dateTime={at} title={instantText(at)} className={`whitespace-nowrap ${tone}`}>
      {left <= 0 ? past : `in ${spanText(left)}`}
    </time>
  );
}

export const instantText = (at: string): string =>
  new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function Instant({ at }: { readonly at: string }): ReactNode {
  return (
    <time dateTime={at} className="whitespace-nowrap">
      {instantText(at)}
    </time>
  );
}
