/** `fetch` with what a browser adds: the cookie of its one origin, and where a call comes from. */
import type { Fetch } from "@sallyport/client";

export function browserFetch(origin: string): Fetch {
  let cookie: string | undefined;
  return async (url, init) => {
    const headers = new Headers(init.headers);
    if (cookie !== undefined) headers.set("cookie", cookie);
    if (init.method === "POST") headers.set("origin", origin);
    headers.set("sec-fetch-site", "same-origin");
    const response = await fetch(url, { ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      cookie = pair.endsWith("=") ? undefined : pair;
    }
    return response;
  };
}
