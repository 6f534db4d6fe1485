/** Rows of a list page: a heading line, facts under it, actions to the right; the same on a phone, one under the other. */
import type { ReactNode } from "react";

export function RowList({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <ul
      aria-label={label}
      className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
    >
      {children}
    </ul>
  );
}

export function Row({
  title,
  facts,
  actions,
  children,
}: {
  readonly title: ReactNode;
  readonly facts?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <li className="px-4 py-3">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-72">
          <div className="text-sm text-ink">{title}</div>
          {facts === undefined ? null : (
            <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">{facts}</div>
          )}
        </div>
        {actions === undefined ? null : (
          <div className="flex min-w-0 flex-wrap gap-2 sm:shrink-0">{actions}</div>
        )}
      </div>
      {children}
    </li>
  );
}

/** A name and a value. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <span className="inline-flex min-w-0 items-baseline gap-1">
      <span className="text-ink-3">{name}</span> <span className="min-w-0 text-ink-2">{children}</span>
    </span>
  );
}
