/**
 * The token of a one-time link. It arrives behind the `#` of the address, which no server and no log sees, and is taken
 * out of the address at once.
 */
export function takeLinkToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) history.replaceState(null, "", location.pathname);
  return token;
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
