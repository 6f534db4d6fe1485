/**
 * Requests in pages, newest first. Long lists are kept current at their head only: a row further down that was decided
 * elsewhere shows that when it is opened, and the server has the last word on every decision.
 */
import type { AdminPage, AdminRequestFilter, RequestView } from "@sallyport/contract/admin";
import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { cache, inboxAdmin } from "./admin.ts";

const PAGE_ROWS = 200;
/** Up to this many pages everything is asked for again. */
const WHOLE_PAGES_MAX = 2;

type Pages = InfiniteData<AdminPage<RequestView>, string | undefined>;
type RequestKey = readonly ["requests", AdminRequestFilter];

export interface RequestRows {
  readonly rows: readonly RequestView[];
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

export function useRequestRows(filter: AdminRequestFilter): RequestRows {
  const query = useInfiniteQuery({
    queryKey: ["requests", filter] as RequestKey,
    queryFn: ({ pageParam }) => inboxAdmin.requests(filter, { limit: PAGE_ROWS, after: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: AdminPage<RequestView>) => page.next ?? undefined,
  });
  const { data, fetchNextPage, refetch } = query;
  const rows = useMemo(() => uniqueRows(data?.pages ?? []), [data]);
  return {
    rows,
    isLoading: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => {
      if (!query.isFetching) fetchNextPage().catch(() => undefined);
    },
    retry: () => {
      refetch().catch(() => undefined);
    },
  };
}

/** A row that moved from one page to the next while both were read stands in both. */
function uniqueRows(pages: readonly AdminPage<RequestView>[]): readonly RequestView[] {
  const seen = new Set<string>();
  return pages.flatMap(({ rows }) =>
    rows.filter(({ id }) => {
      if (seen.has(id)) return false;
      seen.add(id);
      return true;
    }),
  );
}

/** Something about requests changed. */
export async function refreshHead(): Promise<void> {
  const held = cache.getQueriesData<Pages>({ queryKey: ["requests"] });
  await Promise.all(
    held.map(async ([key, data]) => {
      if (data === undefined || data.pages.length <= WHOLE_PAGES_MAX)
        return cache.invalidateQueries({ queryKey: key, exact: true });
      const [, filter] = key as RequestKey;
      const head = await inboxAdmin.requests(filter, { limit: PAGE_ROWS });
      cache.setQueryData<Pages>(key, (now) => (now === undefined ? now : withHead(now, head)));
    }),
  );
}

/** INVARIANT: of the old first page only what lies behind the new one is kept; what is missing in it was decided. */
function withHead(held: Pages, head: AdminPage<RequestView>): Pages {
  const [first, ...rest] = held.pages;
  if (first === undefined || head.next === null) return { pages: [head], pageParams: [undefined] };
  const last = head.rows.at(-1);
  const cut = last === undefined ? -1 : first.rows.findIndex(({ id }) => id === last.id);
  // WHY: where more came than a page holds nothing of the old head can be placed; it is read again from there.
  if (cut < 0) return { pages: [head], pageParams: [undefined] };
  const joined = { rows: [...head.rows, ...first.rows.slice(cut + 1)], next: first.next };
  return { pages: [joined, ...rest], pageParams: held.pageParams };
}

/** Takes rows out of every list at once, before the server has answered. */
export function dropRows(ids: ReadonlySet<string>): void {
  cache.setQueriesData<Pages>({ queryKey: ["requests"] }, (held) =>
    held === undefined
      ? held
      : {
          ...held,
          pages: held.pages.map((page) => ({ ...page, rows: page.rows.filter(({ id }) => !ids.has(id)) })),
        },
  );
}
