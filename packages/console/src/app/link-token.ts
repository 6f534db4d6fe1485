/**
 * The token of a one-time link. It arrives behind the `#` of the address, which no server and no log sees, and is taken
 * out of the address at once.
 */
export function takeLinkToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) history.replaceState(null, "", takeWanted() ?? location.pathname);
  return token;
}

const WANTED = "sallyport.wanted";

/** Before a person leaves for the identity provider: the way back ends at the front page, and this is where they were going. */
export function keepWanted(): void {
  sessionStorage.setItem(WANTED, location.pathname + location.search);
}

/** INVARIANT: a page of this console, whatever is in the storage. */
function takeWanted(): string | undefined {
  const kept = sessionStorage.getItem(WANTED);
  sessionStorage.removeItem(WANTED);
  if (kept === null || !URL.canParse(kept, location.origin)) return undefined;
  const { origin, pathname, search } = new URL(kept, location.origin);
  return origin === location.origin ? pathname + search : undefined;
}

/** Also in a page that is open already: a link that is pasted over its address loads nothing anew. */
export function hearLinkTokens(heard: (token: string) => void): () => void {
  const look = (): void => {
    const token = takeLinkToken();
    if (token !== null) heard(token);
  };
  addEventListener("hashchange", look);
  return () => removeEventListener("hashchange", look);
}
