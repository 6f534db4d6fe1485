/** The frame of a page with a list: a title, what it is in a line, its actions, and a scrolling body. */
import { type ReactNode, useEffect } from "react";

export function Page({
  title,
  about,
  actions,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Sallyport`;
  }, [title]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex flex-wrap items-end gap-x-6 gap-y-2 px-4 pt-4 pb-3 sm:px-6">
        <div className="min-w-0 flex-1 basis-72">
          <h1 className="text-xl font-semibold tracking-tight text-ink">{title}</h1>
          {about === undefined ? null : <p className="max-w-3xl text-sm text-ink-2">{about}</p>}
        </div>
        {actions === undefined ? null : <div className="flex flex-wrap items-end gap-2">{actions}</div>}
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-4 pb-8 sm:px-6">{children}</div>
    </div>
  );
}

/** A raised sheet. */
export function Sheet({
  children,
  className = "",
}: {
  readonly children: ReactNode;
  readonly className?: string;
}): ReactNode {
  return <section className={`rounded-lg border border-line bg-surface ${className}`}>{children}</section>;
}

export function SheetTitle({
  children,
  actions,
}: {
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}): ReactNode {
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5">
      <h2 className="flex-1 text-sm font-semibold text-ink">{children}</h2>
      {actions}
    </div>
  );
}
