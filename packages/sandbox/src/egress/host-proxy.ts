/**
 * The proxy that the host itself must go through, as its variables say. Pure. Only proxies that are spoken to in clear
 * text are known; what else is named there is a fault of the host's setting and is left out.
 */
import type { UpstreamProxy } from "./dial.ts";

type Variables = Readonly<Record<string, string | undefined>>;

const NAMES = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"] as const;

export function hostProxy(variables: Variables): UpstreamProxy | undefined {
  const url = NAMES.map((name) => variables[name] ?? "").find((value) => value !== "");
  if (url === undefined || !/^http:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  const except = (variables["NO_PROXY"] ?? variables["no_proxy"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase().replace(/^\*/, ""))
    .filter((name) => name !== "");
  return Object.freeze({ url, except: Object.freeze(except) });
}
