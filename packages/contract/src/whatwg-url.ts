/**
 * The WHATWG parser of the surrounding runtime (Node or a browser) as a port.
 * Not for use beside hostile code: there the caller hands in a parser it captured first.
 */
import type { UrlParser } from "./target/host.ts";

declare const URL: new (text: string) => { readonly href: string };

/** WHY not `URL.canParse` first: in Node 20 it refuses Latin-1 host names once it is compiled. */
export const whatwgUrl: UrlParser = (text) => {
  try {
    return new URL(text).href;
  } catch {
    return undefined;
  }
};
