/**
 * Network targets: a URL, an endpoint or a unix socket, each normalized once.
 * INVARIANT: parsing the normalized text again gives the same target.
 */
import { type Fault, type Parsed, fault, ok } from "../parsed.ts";
import { canonicalFilesystemPath } from "./filesystem.ts";
import { type Host, type UrlParser, canonicalHost, hasControl, parseHost } from "./host.ts";
import type { TargetText } from "./target-text.ts";

export const NETWORK_TARGET_BYTES_MAX = 8192;

export const URL_SCHEMES = ["http", "https", "ws", "wss"] as const;
export type UrlScheme = (typeof URL_SCHEMES)[number];

const DEFAULT_PORTS: Readonly<Record<UrlScheme, number>> = { http: 80, https: 443, ws: 80, wss: 443 };

export interface UrlTarget {
  readonly resourceType: "network";
  readonly form: "url";
  readonly requested: string;
  readonly text: TargetText<"network">;
  readonly scheme: UrlScheme;
  readonly host: Host;
  readonly port: number;
  readonly path: string;
  /** Without the question mark; `undefined` where the URL has none. */
  readonly query: string | undefined;
}

export interface EndpointTarget {
  readonly resourceType: "network";
  readonly form: "endpoint";
  readonly requested: string;
  readonly text: TargetText<"network">;
  readonly host: Host;
  /** `undefined` for a bare host, as in a stand-alone name resolution. */
  readonly port: number | undefined;
}

export interface UnixTarget {
  readonly resourceType: "network";
  readonly form: "unix";
  readonly requested: string;
  readonly text: TargetText<"network">;
  readonly path: string;
}

export type NetworkTarget = UrlTarget | EndpointTarget | UnixTarget;

export function parseNetworkTarget(requested: unknown, parseUrl: UrlParser): Parsed<NetworkTarget> {
  if (typeof requested !== "string") return bad("must be text: a URL, `host`, `host:port` or `unix:/path`");
  if (longerThan(requested, NETWORK_TARGET_BYTES_MAX)) {
    return bad(`must be at most ${NETWORK_TARGET_BYTES_MAX} bytes long`);
  }
  if (hasControl(requested)) return bad("must not contain control characters");
  const text = trimSpaces(requested);
  if (text.startsWith("unix:")) return parseUnix(requested, text);
  const scheme = schemeOf(text);
  if (scheme !== undefined && isUrlScheme(scheme)) return parseUrlTarget(requested, text, parseUrl);
  if (text.includes("://")) return bad("must use http, https, ws or wss, or be `host:port` without a scheme");
  return parseEndpoint(requested, text, parseUrl);
}

/** The same target on another host: how an address stands in for the name that resolved to it. */
export function withHost<T extends UrlTarget | EndpointTarget>(target: T, host: Host): T {
  const text = target.form === "url" ? urlText({ ...target, host }) : endpointText(host, target.port);
  return { ...target, host, text: text as TargetText<"network"> };
}

export function urlText(parts: Pick<UrlTarget, "scheme" | "host" | "port" | "path" | "query">): string {
  const query = parts.query === undefined ? "" : `?${parts.query}`;
  return `${originText(parts)}${parts.path}${query}`;
}

export function originText(parts: Pick<UrlTarget, "scheme" | "host" | "port">): string {
  const port = parts.port === DEFAULT_PORTS[parts.scheme] ? "" : `:${parts.port}`;
  return `${parts.scheme}://${parts.host}${port}`;
}

export function endpointText(host: Host, port: number | undefined): string {
  return port === undefined ? host : `${host}:${port}`;
}

function parseUrlTarget(requested: string, text: string, parseUrl: UrlParser): Parsed<UrlTarget> {
  const href = parseUrl(text);
  if (href === undefined) return bad("is not a URL");
  const schemeEnd = href.indexOf("://");
  const scheme = href.slice(0, schemeEnd);
  if (!isUrlScheme(scheme)) return bad("must use http, https, ws or wss");
  const hostStart = schemeEnd + 3;
  // WHY: an href of these schemes always has a slash after the authority.
  const pathStart = href.indexOf("/", hostStart);
  const authority = href.slice(hostStart, pathStart);
  if (authority.includes("@")) return bad("must not contain a user name or password");
  const portStart = portStartOf(authority);
  const hostText = portStart < 0 ? authority : authority.slice(0, portStart - 1);
  const host = canonicalHost(hostText);
  if (host === undefined)
    return bad("must have a host of letters, digits, hyphens, underscores and dots, or an IP address");
  const port = portStart < 0 ? DEFAULT_PORTS[scheme] : Number(authority.slice(portStart));
  if (!isPort(port)) return bad("must have a port from 1 to 65535");
  const fragmentStart = href.indexOf("#", pathStart);
  const end = fragmentStart < 0 ? href.length : fragmentStart;
  const queryMark = href.indexOf("?", pathStart);
  const hasQuery = queryMark >= 0 && queryMark < end;
  const path = href.slice(pathStart, hasQuery ? queryMark : end);
  const query = hasQuery ? href.slice(queryMark + 1, end) : undefined;
  const parts = { scheme, host, port, path, query };
  // WHY: mostly the href is the normalized text already, and one text is cheaper to keep and to read than two.
  const normalized = host === hostText ? href.slice(0, end) : urlText(parts);
  if (normalized.length > NETWORK_TARGET_BYTES_MAX) {
    return bad(`must be at most ${NETWORK_TARGET_BYTES_MAX} bytes long once percent-encoded`);
  }
  return ok(
    Object.freeze({
      resourceType: "network",
      form: "url",
      requested,
      text: normalized as TargetText<"network">,
      ...parts,
    }),
  );
}

function parseEndpoint(requested: string, text: string, parseUrl: UrlParser): Parsed<EndpointTarget> {
  const portStart = portStartOf(text);
  const hostPart = portStart < 0 ? text : text.slice(0, portStart - 1);
  const host = parseHost(hostPart, parseUrl);
  if (host === undefined) {
    return bad("must be a URL, `host`, `host:port` (IPv6 in brackets) or `unix:/absolute/path`");
  }
  let port: number | undefined;
  if (portStart >= 0) {
    const digits = text.slice(portStart);
    port = /^[0-9]{1,5}$/.test(digits) ? Number(digits) : 0;
    if (!isPort(port)) return bad("must have a port from 1 to 65535");
  }
  return ok(
    Object.freeze({
      resourceType: "network",
      form: "endpoint",
      requested,
      text: endpointText(host, port) as TargetText<"network">,
      host,
      port,
    }),
  );
}

function parseUnix(requested: string, text: string): Parsed<UnixTarget> {
  const path = canonicalFilesystemPath(text.slice("unix:".length));
  if (path === undefined || path === "/") return bad("must name a unix socket by its absolute path");
  return ok(
    Object.freeze({
      resourceType: "network",
      form: "unix",
      requested,
      text: `unix:${path}` as TargetText<"network">,
      path,
    }),
  );
}

/** Where the port begins behind a host, brackets respected and bare IPv6 left whole; -1 where there is none. */
function portStartOf(authority: string): number {
  const bracket = authority.lastIndexOf("]");
  const colon = authority.lastIndexOf(":");
  if (colon < 0 || colon < bracket) return -1;
  if (bracket < 0 && authority.indexOf(":") !== colon) return -1;
  return colon + 1;
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65535;
}

function isUrlScheme(scheme: string): scheme is UrlScheme {
  return (URL_SCHEMES as readonly string[]).includes(scheme);
}

function schemeOf(text: string): string | undefined {
  const colon = text.indexOf(":");
  return colon < 1 || colon > 8 ? undefined : text.slice(0, colon).toLowerCase();
}

function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) === 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) === 0x20) end--;
  return text.slice(start, end);
}

/** Whether a text is longer than `bytes` in UTF-8, without encoding it. */
export function longerThan(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  if (text.length * 3 <= bytes) return false;
  let total = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    // WHY: each half of a surrogate pair counts two of the pair's four bytes.
    total += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  return total > bytes;
}

function bad(reason: string): Fault {
  return fault("invalid_target", "target", `network target ${reason}`);
}
