/** What a page shows when there is nothing to show: still loading, nothing there, or it failed. */
import type { LucideIcon } from "lucide-react";
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Message } from "../display/hostile.tsx";
import { Button } from "./button.tsx";

export function Loading({
  rows = 6,
  label = "Loading",
}: {
  readonly rows?: number;
  readonly label?: string;
}): ReactNode {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2 p-4">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="h-12 animate-pulse rounded-md bg-sunken" />
      ))}
    </div>
  );
}

export function Empty({
  icon: Icon,
  title,
  children,
}: {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-16 text-center">
      <Icon size={28} strokeWidth={1.5} aria-hidden className="text-ink-3" />
      <p className="text-base font-medium text-ink">{title}</p>
      {children === undefined ? null : <div className="max-w-md text-sm text-ink-2">{children}</div>}
    </div>
  );
}

export function Failed({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}): ReactNode {
  return (
    <div
      role="alert"
      className="m-4 flex flex-wrap items-start gap-3 rounded-lg border border-line bg-danger-soft p-4"
    >
      <TriangleAlert size={18} aria-hidden className="mt-0.5 shrink-0 text-danger" />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-danger">This could not be loaded</p>
        <p className="text-sm text-ink">
          <Message text={errorText(error)} />
        </p>
      </div>
      {onRetry === undefined ? null : <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

export const errorText = (error: unknown): string =>
  error instanceof Error && error.message !== "" ? error.message : "the server cannot be reached: try again";
