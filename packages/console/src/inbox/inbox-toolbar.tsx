/** The line above the list: search, filters, grouping. */
import { Layers, ListFilter, Search } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import type { InboxSearch } from "./inbox-search.ts";

export function InboxToolbar({
  search,
  searchBox,
  isGrouped,
  onGroup,
  onFilter,
  onText,
}: {
  readonly search: InboxSearch;
  readonly searchBox: RefObject<HTMLInputElement | null>;
  readonly isGrouped: boolean;
  readonly onGroup: (grouped: boolean) => void;
  readonly onFilter: () => void;
  readonly onText: (text: string) => void;
}): ReactNode {
  // WHY kept here too: the address follows a moment later, and what is typed meanwhile must not be lost.
  const [text, setText] = useState(search.text ?? "");
  useEffect(() => {
    if (document.activeElement !== searchBox.current) setText(search.text ?? "");
  }, [search.text, searchBox]);
  return (
    <header className="flex flex-col gap-2 px-3 pt-3.5 pb-2.5">
      <div className="flex items-center gap-2">
        <h1 className="flex-1 text-xl font-semibold tracking-tight">Inbox</h1>
        <Button
          look="quiet"
          aria-pressed={isGrouped}
          className={isGrouped ? "bg-accent-soft !text-accent" : ""}
          onClick={() => onGroup(!isGrouped)}
        >
          <Layers size={15} aria-hidden />
          Group
        </Button>
        <Button look="quiet" onClick={onFilter}>
          <ListFilter size={15} aria-hidden />
          Filter
        </Button>
      </div>
      <div className="relative">
        <Search size={15} aria-hidden className="absolute top-2 left-2.5 text-ink-3" />
        <input
          ref={searchBox}
          type="search"
          aria-label="Search the requests"
          placeholder="Search  ( / )"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            onText(event.target.value);
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
          }}
          className="w-full rounded-md border border-line-strong bg-surface py-1.5 pr-2.5 pl-8 text-sm placeholder:text-ink-3"
        />
      </div>
    </header>
  );
}
