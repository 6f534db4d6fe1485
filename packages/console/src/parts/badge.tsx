/** Small labels. Colour never says anything that the words do not. */
import type { ReactNode } from "react";

export type Tone = "neutral" | "accent" | "danger" | "warn" | "good";

const TONES: Readonly<Record<Tone, string>> = {
  neutral: "bg-sunken text-ink-2",
  accent: "bg-accent-soft text-accent",
  danger: "bg-danger-soft text-danger",
  warn: "bg-warn-soft text-warn",
  good: "bg-good-soft text-good",
};

export function Badge({
  tone = "neutral",
  children,
  title,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
  readonly title?: string | undefined;
}): ReactNode {
  return (
    <span
      title={title}
      className={`inline-flex items-center gap-1 rounded px-1.5 text-xs font-medium leading-5 whitespace-nowrap ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}
