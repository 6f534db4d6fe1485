/** The one client and the one cache of the page. Speaks to the origin that it was loaded from, and to nobody else. */
import { AdminCallError, createAdminClient } from "@sallyport/client/admin";
import { QueryClient } from "@tanstack/react-query";

export const admin = createAdminClient({ origin: "" });

const RETRIES_MAX = 2;
const isRefusal = (error: unknown): boolean =>
  error instanceof AdminCallError && error.status >= 400 && error.status < 500;

export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      // WHY: the server says when something changed; until then what is shown holds.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < RETRIES_MAX && !isRefusal(error),
    },
  },
});

/** The sign-in is over: the page goes back to asking for one. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof AdminCallError && error.status === 401;
