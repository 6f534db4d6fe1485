/** The mark: a small gate in a wall. */
import type { ReactNode } from "react";

export function Mark({ size }: { readonly size: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden className="shrink-0">
      <rect width="32" height="32" rx="7" className="fill-accent-fill" />
      <path d="M8 25V14a8 8 0 0 1 16 0v11h-5V14a3 3 0 0 0-6 0v11z" className="fill-white" />
    </svg>
  );
}
