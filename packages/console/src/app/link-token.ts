/**
 * The token of a one-time link. It arrives behind the `#` of the address, which no server and no log sees, and is taken
 * out of the address at once.
 */
export function takeLinkToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) history.replaceState(null, "", location.pathname);
  return token;
}
