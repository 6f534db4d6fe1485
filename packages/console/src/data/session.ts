/** Who is signed in. What a person may do is the server's to say; here it only decides what is offered. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { AdminSession } from "@sallyport/contract/admin";
import { cache, inboxAdmin } from "./admin.ts";

const SESSION = ["session"] as const;

export const useSession = (): UseQueryResult<AdminSession> =>
  useQuery({ queryKey: SESSION, queryFn: () => inboxAdmin.session() });

export const refreshSession = (): Promise<void> => cache.invalidateQueries({ queryKey: SESSION });

export async function signInWithLink(token: string): Promise<void> {
  cache.setQueryData(SESSION, await inboxAdmin.signInWithLink(token));
}

export async function signInWithPassword(name: string, password: string): Promise<void> {
  cache.setQueryData(SESSION, await inboxAdmin.signInWithPassword(name, password));
}

export async function signOut(): Promise<void> {
  await inboxAdmin.signOut();
  // INVARIANT: nothing that the person saw stays in the page: it begins again.
  location.assign("/");
}
