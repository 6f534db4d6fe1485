/**
 * The one caller and the one cache of the page, and what its first view asks; the rest of the client is in `late-admin.ts`.
 * Speaks to the origin that it was loaded from, and to nobody else.
 */
import { AdminCallError, AdminCaller, inboxClientOf } from "@sallyport/client/admin";
import { QueryClient } from "@tanstack/react-query";

export const caller = new AdminCaller({ origin: "" });
export const inboxAdmin = inboxClientOf(caller);

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
