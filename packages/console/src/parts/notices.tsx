/** Short notices, read out as they come, away from the answers; some can be undone for a moment. */
import { X } from "lucide-react";
import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import type { Tone } from "./badge.tsx";

export interface Notice {
  readonly id: number;
  readonly tone: Extract<Tone, "neutral" | "danger" | "warn" | "good">;
  readonly text: ReactNode;
  readonly undo?: { readonly label: string; readonly run: () => void } | undefined;
}

const SHOWN_MS = 12_000;
const SHOWN_MAX = 4;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function replace(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

export function notify(notice: Omit<Notice, "id">): void {
  lastId += 1;
  replace([...notices, { ...notice, id: lastId }].slice(-SHOWN_MAX));
}

const dismiss = (id: number): void => replace(notices.filter((notice) => notice.id !== id));

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Undoes the newest notice that can be undone. */
export function undoNewest(): void {
  const newest = notices.findLast(({ undo }) => undo !== undefined);
  if (newest === undefined) return;
  dismiss(newest.id);
  newest.undo?.run();
}

const EDGES: Readonly<Record<Notice["tone"], string>> = {
  neutral: "border-l-line-strong",
  danger: "border-l-danger",
  warn: "border-l-warn",
  good: "border-l-good",
};

export function Notices(): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div
      role="log"
      aria-live="polite"
      aria-label="Notices"
      className="pointer-events-none fixed left-0 z-[60] flex w-full flex-col gap-2 p-4 max-md:top-20 md:bottom-4 md:max-w-md lg:left-56"
    >
      {shown.map((notice) => (
        <OneNotice key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function OneNotice({ notice }: { readonly notice: Notice }): ReactNode {
  const { id, tone, text, undo } = notice;
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div
      className={`pointer-events-auto flex items-start gap-3 rounded-lg border border-l-4 border-line bg-surface px-3.5 py-2.5 text-sm shadow-lg ${EDGES[tone]}`}
    >
      <div className="min-w-0 flex-1 text-ink">{text}</div>
      {undo === undefined ? null : (
        <button
          type="button"
          className="font-semibold text-accent underline-offset-2 hover:underline"
          onClick={() => {
            dismiss(id);
            undo.run();
          }}
        >
          {undo.label}
        </button>
      )}
      <button
        type="button"
        aria-label="Dismiss"
        className="text-ink-3 hover:text-ink"
        onClick={() => dismiss(id)}
      >
        <X size={14} aria-hidden />
      </button>
    </div>
  );
}
