/** The one place that a credential is sent to. */

/** WHY: an answer without TLS can be forged on the way, and an answer can say `allowed`. */
export function checkedOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.hostname === "127.0.0.1" || url?.hostname === "[::1]" || url?.hostname === "localhost";
  if (
    url === undefined ||
    url.origin !== text ||
    !(url.protocol === "https:" || (url.protocol === "http:" && isLocal))
  )
    throw new TypeError(`\`${text}\` is not an https origin, nor an http origin on this machine`);
  return text;
}
