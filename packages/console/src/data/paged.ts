/** Lists in pages for every page but the inbox: what is loaded, and how to load more. */
import type { AdminPage, AdminPageRequest } from "@sallyport/contract/admin";
import { useInfiniteQuery } from "@tanstack/react-query";

const PAGE_ROWS = 100;

export interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

/** `key`: its first part is the topic that the live stream names. `everyMs`: for what no topic tells of. */
export function usePaged<Row>(
  key: readonly unknown[],
  read: (page: AdminPageRequest) => Promise<AdminPage<Row>>,
  { everyMs = false }: { readonly everyMs?: number | false } = {},
): Paged<Row> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read({ limit: PAGE_ROWS, after: pageParam }),
    initialPageParam: undefined as string | undefined,
    refetchInterval: everyMs,
    getNextPageParam: (page: AdminPage<Row>) => page.next ?? undefined,
  });
  return {
    rows: query.data?.pages.flatMap(({ rows }) => rows) ?? [],
    isLoading: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    loadMore: () => {
      query.fetchNextPage().catch(() => undefined);
    },
    retry: () => {
      query.refetch().catch(() => undefined);
    },
  };
}
