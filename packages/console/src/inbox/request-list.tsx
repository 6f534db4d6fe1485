/** The inbox as a virtual list: ten thousand requests cost as much as the dozen that can be seen. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { plural } from "../display/words.ts";
import type { ListItem } from "./group-requests.ts";
import { GroupRow, RequestRow, type RowActions } from "./request-row.tsx";

const REQUEST_HEIGHT = 86;
const GROUP_HEIGHT = 34;
const AHEAD = 30;

export function RequestList({
  items,
  openId,
  ticked,
  actions,
  hasMore,
  isLoadingMore,
  onMore,
}: {
  readonly items: readonly ListItem[];
  readonly openId: string | undefined;
  readonly ticked: ReadonlySet<string>;
  readonly actions: RowActions;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly onMore: () => void;
}): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (items[index]?.kind === "group" ? GROUP_HEIGHT : REQUEST_HEIGHT),
    overscan: 8,
    getItemKey: (index) => keyOf(items[index], index),
  });
  const shown = rows.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;

  useEffect(() => {
    if (hasMore && !isLoadingMore && lastShown + AHEAD >= items.length) onMore();
  }, [hasMore, isLoadingMore, lastShown, items.length, onMore]);

  const openIndex = items.findIndex((item) => item.kind === "request" && item.request.id === openId);
  useEffect(() => {
    if (openIndex >= 0) rows.scrollToIndex(openIndex, { align: "auto" });
    // WHY not on every change of the rows: only moving to another request scrolls.
  }, [openId]);

  const requests = items.filter(({ kind }) => kind === "request").length;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div
        ref={scroller}
        tabIndex={0}
        role="group"
        aria-label="Requests"
        className="min-h-0 flex-1 overflow-y-auto"
        data-list
      >
        <div className="relative w-full" style={{ height: rows.getTotalSize() }}>
          {shown.map(({ key, index, start, size }) => {
            const item = items[index];
            return item === undefined ? null : (
              <div
                key={key}
                className="absolute inset-x-0 top-0"
                style={{ height: size, transform: `translateY(${start}px)` }}
              >
                {item.kind === "group" ? (
                  <GroupRow group={item.group} ticked={ticked} actions={actions} />
                ) : (
                  <RequestRow
                    request={item.request}
                    isOpen={item.request.id === openId}
                    isTicked={ticked.has(item.request.id)}
                    actions={actions}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      <p className="border-t border-line px-3 py-1.5 text-xs text-ink-3" aria-live="polite" data-count>
        {plural(requests, "request")}
        {hasMore ? (isLoadingMore ? " loaded, loading more" : " loaded, more below") : ""}
      </p>
    </div>
  );
}

function keyOf(item: ListItem | undefined, index: number): string | number {
  if (item === undefined) return index;
  return item.kind === "request" ? item.request.id : `above ${item.group.requests[0]?.id ?? index}`;
}
