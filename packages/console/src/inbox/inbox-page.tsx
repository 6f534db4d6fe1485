/** The inbox: what waits for a decision, one request opened beside the list, everything reachable by key. */
import type { RequestView } from "@sallyport/contract/admin";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Inbox as InboxIcon, MousePointerClick } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../app/shortcuts.ts";
import { type RequestRows, useRequestRows } from "../data/request-pages.ts";
import { useSession } from "../data/session.ts";
import { undoNewest } from "../parts/notices.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { BatchBar } from "./batch-bar.tsx";
import type { Choice } from "./batch-dialog.tsx";
import { FilterChips } from "./filter-chips.tsx";
import { listItems, matchesText } from "./group-requests.ts";
import { type InboxSearch, requestFilter } from "./inbox-search.ts";
import { InboxToolbar } from "./inbox-toolbar.tsx";
import { BatchDialog, FilterDialog, Guide, LatePart } from "./late-parts.tsx";
import { OpenRequest } from "./late-request.ts";
import type { OpenRequestHandle } from "./open-request.tsx";
import { RequestList } from "./request-list.tsx";
import type { RowActions } from "./request-row.tsx";

const NONE: ReadonlySet<string> = new Set();

export function InboxPage(): ReactNode {
  const search: InboxSearch = useSearch({ from: "/" });
  const [ticked, setTicked] = useState(NONE);
  const [isGrouped, setGrouped] = useState(false);
  const [isFiltering, setFiltering] = useState(false);
  const [wish, setWish] = useState<Choice | null>(null);
  const isGuided = useSession().data?.server.guided ?? false;
  const searchBox = useRef<HTMLInputElement>(null);
  const opened = useRef<OpenRequestHandle>(null);
  const filter = useMemo(() => requestFilter(search), [search]);
  const list = useRequestRows(filter);
  const rows = useMemo(() => {
    const { text } = search;
    return text === undefined ? list.rows : list.rows.filter((row) => matchesText(row, text));
  }, [list.rows, search]);
  const items = useMemo(() => listItems(rows, isGrouped), [rows, isGrouped]);
  const order = useMemo(
    () => items.flatMap((item) => (item.kind === "request" ? [item.request] : [])),
    [items],
  );
  const isSearching = useSearchOn(search.text, list);
  const { narrow, open } = useInboxAddress(search);
  const move = useMove(order, search.id, open);

  const actions: RowActions = useMemo(
    () => ({
      onOpen: open,
      onTick: (ids, isTicked) =>
        setTicked((held) => {
          const next = new Set(held);
          for (const id of ids) {
            if (isTicked) next.add(id);
            else next.delete(id);
          }
          return next;
        }),
    }),
    [open],
  );

  useShortcuts(
    useMemo(
      () => ({
        j: () => move(1),
        k: () => move(-1),
        a: () => opened.current?.approve(),
        d: () => opened.current?.dialog("deny"),
        e: () => opened.current?.dialog("approve"),
        u: () => undoNewest(),
        x: () => {
          if (search.id !== undefined) actions.onTick([search.id], !ticked.has(search.id));
        },
        "/": () => searchBox.current?.focus(),
      }),
      [move, actions, search.id, ticked],
    ),
  );
  useEffect(() => {
    document.title = "Inbox · Sallyport";
  }, []);

  const chosen = rows.filter(({ id, status }) => ticked.has(id) && status === "pending");
  return (
    <div className="flex h-full min-h-0">
      <section
        aria-label="Inbox"
        className={`flex min-h-0 w-full flex-col border-r border-line bg-surface md:w-[26rem] md:shrink-0 xl:w-[30rem] ${search.id === undefined ? "" : "max-md:hidden"}`}
      >
        <InboxToolbar
          search={search}
          searchBox={searchBox}
          isGrouped={isGrouped}
          onGroup={setGrouped}
          onFilter={() => setFiltering(true)}
          onText={(text) => narrow({ ...search, text: text === "" ? undefined : text })}
        />
        <FilterChips search={search} onApply={narrow} />
        {chosen.length > 0 ? (
          <BatchBar count={chosen.length} onWish={setWish} onClear={() => setTicked(NONE)} />
        ) : null}
        {isGuided ? (
          <div className="border-b border-line md:hidden">
            <LatePart>
              <Guide />
            </LatePart>
          </div>
        ) : null}
        {list.error !== null && list.rows.length === 0 ? (
          <Failed error={list.error} onRetry={list.retry} />
        ) : null}
        {list.isLoading ? <Loading label="Loading requests" /> : null}
        {!list.isLoading && list.error === null && rows.length === 0 ? (
          isSearching ? (
            <Loading label="Searching the requests" />
          ) : (
            <Nothing search={search} />
          )
        ) : null}
        {rows.length > 0 ? (
          <RequestList
            items={items}
            openId={search.id}
            ticked={ticked}
            actions={actions}
            hasMore={list.hasMore}
            isLoadingMore={list.isLoadingMore}
            onMore={list.loadMore}
          />
        ) : null}
      </section>
      <section
        aria-label="Opened request"
        className={`min-h-0 min-w-0 flex-1 ${search.id === undefined ? "max-md:hidden" : ""}`}
      >
        {search.id === undefined ? (
          <NoneOpen hasRows={rows.length > 0} isGuided={isGuided} />
        ) : (
          <LatePart>
            <OpenRequest
              key={search.id}
              ref={opened}
              id={search.id}
              onLeave={() => open(undefined)}
              onNext={() => open(neighbourOf(order, search.id))}
            />
          </LatePart>
        )}
      </section>
      {isFiltering ? (
        <LatePart>
          <FilterDialog
            search={search}
            onClose={() => setFiltering(false)}
            onApply={(next) => {
              setFiltering(false);
              narrow(next);
            }}
          />
        </LatePart>
      ) : null}
      {wish === null ? null : (
        <LatePart>
          <BatchDialog
            requests={chosen}
            wish={wish}
            onClose={() => setWish(null)}
            onDone={() => {
              setWish(null);
              setTicked(NONE);
            }}
          />
        </LatePart>
      )}
    </div>
  );
}

/** What is narrowed and what is open stand in the address, so that a link leads to both. */
function useInboxAddress(search: InboxSearch) {
  const navigate = useNavigate({ from: "/" });
  const go = useCallback(
    (next: InboxSearch): void => {
      const given = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
      navigate({ search: given, replace: true }).catch(() => undefined);
    },
    [navigate],
  );
  const open = useCallback((id: string | undefined): void => go({ ...search, id }), [go, search]);
  const narrow = useCallback((next: InboxSearch): void => go({ ...next, id: undefined }), [go]);
  return { narrow, open };
}

/** INVARIANT: a search looks at everything that waits, also at what no one has scrolled to yet. */
function useSearchOn(
  text: string | undefined,
  { hasMore, isLoadingMore, error, loadMore }: RequestRows,
): boolean {
  const isSearching = text !== undefined && hasMore && error === null;
  useEffect(() => {
    if (isSearching && !isLoadingMore) loadMore();
  }, [isSearching, isLoadingMore, loadMore]);
  return isSearching;
}

/**
 * To the next or the one before. A request that left the list, because it was decided, leaves its place behind: the next
 * one is then the one that came after it.
 */
function useMove(
  order: readonly RequestView[],
  openId: string | undefined,
  open: (id: string | undefined) => void,
) {
  const place = useRef(0);
  const index = order.findIndex(({ id }) => id === openId);
  if (index >= 0) place.current = index;
  return useCallback(
    (step: 1 | -1): void => {
      if (order.length === 0) {
        open(undefined);
        return;
      }
      const isGone = openId !== undefined && index < 0;
      const from =
        openId === undefined
          ? step === 1
            ? -1
            : order.length
          : isGone && step === 1
            ? place.current - 1
            : place.current;
      const next = Math.min(order.length - 1, Math.max(0, from + step));
      open(order[next]?.id);
    },
    [order, openId, index, open],
  );
}

/** What is opened once a request is decided: the next one, at the end of the list the one before, else none. */
function neighbourOf(order: readonly RequestView[], openId: string | undefined): string | undefined {
  const index = order.findIndex(({ id }) => id === openId);
  if (index < 0) return order[0]?.id;
  return (order[index + 1] ?? order[index - 1])?.id;
}

function NoneOpen({
  hasRows,
  isGuided,
}: {
  readonly hasRows: boolean;
  readonly isGuided: boolean;
}): ReactNode {
  if (isGuided)
    return (
      <LatePart>
        <Guide />
      </LatePart>
    );
  return (
    <Empty icon={MousePointerClick} title={hasRows ? "Choose a request" : "No request is open"}>
      {hasRows ? "Everything that helps to decide is shown here." : undefined}
    </Empty>
  );
}

function Nothing({ search }: { readonly search: InboxSearch }): ReactNode {
  const isNarrowed = Object.keys(search).some((key) => key !== "id" && key !== "status");
  return isNarrowed ? (
    <Empty icon={InboxIcon} title="Nothing matches">
      Values of filters are compared exactly; drop one to see more.
    </Empty>
  ) : (
    <Empty icon={InboxIcon} title="Nothing waits for you">
      When guarded code reaches for something that it did not declare, it appears here by itself.
    </Empty>
  );
}
