/**
 * The cookie of a sign-in. Over https its name makes the browser see to it that this host alone set it; on this machine
 * the port is part of the name, so that two servers do not sign each other out.
 */
import type { HeadFields } from "../incoming-call.ts";

export interface CookieWords {
  readonly name: string;
  readonly secure: boolean;
}

export function signInCookie(origin: string): CookieWords {
  if (known.origin === origin) return known.words;
  const { protocol, port } = new URL(origin);
  const secure = protocol === "https:";
  const words = { name: secure ? "__Host-sallyport" : `sallyport_${port === "" ? "80" : port}`, secure };
  known = { origin, words };
  return words;
}

/** WHY: every call asks, and a server has one origin. */
let known: { readonly origin: string; readonly words: CookieWords } = {
  origin: "",
  words: { name: "", secure: true },
};

export function cookieText({ name, secure }: CookieWords, token: string, maxAgeMs: number): string {
  const seconds = Math.max(0, Math.floor(maxAgeMs / 1000));
  const parts = [`${name}=${token}`, "Path=/", `Max-Age=${seconds}`, "HttpOnly", "SameSite=Strict"];
  return [...parts, ...(secure ? ["Secure"] : [])].join("; ");
}

export const endedCookie = (words: CookieWords): string => cookieText(words, "", 0);

/** INVARIANT: where a name is there twice somebody else set one of them, and neither is believed. */
export function cookieValue(headers: HeadFields, name: string): string | null {
  const given = headers.get("cookie");
  if (given === null) return null;
  const found = given
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`));
  return found.length === 1 ? (found[0] ?? "").slice(name.length + 1) : null;
}
