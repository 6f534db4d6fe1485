/**
 * The WHATWG parser of the surrounding runtime (Node or a browser) as a port.
 * Not for use beside hostile code: there the caller hands in a parser it captured first.
 */
import type { UrlParser } from "./target/host.ts";

declare const URL: { new (text: string): { readonly href: string }; canParse(text: string): boolean };

/** WHY: asking first is cheaper than a thrown error on hostile input. */
export const whatwgUrl: UrlParser = (text) => (URL.canParse(text) ? new URL(text).href : undefined);
