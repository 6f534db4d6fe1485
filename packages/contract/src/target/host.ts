/**
 * Hosts. One reading for rules, checks and dialling: what this file returns is what is dialled.
 * Trusts the injected WHATWG parser for UTS 46 and for numeric IPv4 forms, and nothing else.
 */
import ipaddr from "ipaddr.js";

/** The href of a text by the WHATWG URL standard, or `undefined` where the standard refuses it. Must not throw. */
export type UrlParser = (text: string) => string | undefined;

declare const hostText: unique symbol;
/** A canonical host: lower-case LDH name without trailing dot, dotted IPv4, or IPv6 in brackets. */
export type Host = string & { readonly [hostText]: true };

const HOST_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;

/** Makes the host of an already parsed href canonical; `undefined` where it cannot be dialled safely. */
export function canonicalHost(host: string): Host | undefined {
  if (host.startsWith("[")) return canonicalIpv6(host.slice(1, -1));
  if (isDottedIpv4(host)) return host as Host;
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  if (name.length === 0 || name.length > HOST_LENGTH_MAX) return undefined;
  for (const label of name.split(".")) {
    if (label.length > LABEL_LENGTH_MAX || !LABEL.test(label)) return undefined;
  }
  return name as Host;
}

/** A host as sockets and resolvers take it: no URL syntax, brackets optional around IPv6, no zone. */
export function parseHost(text: string, parseUrl: UrlParser): Host | undefined {
  if (text.length === 0 || text.length > HOST_LENGTH_MAX * 4) return undefined;
  if (text.startsWith("[") !== text.endsWith("]")) return undefined;
  const bare = text.startsWith("[") ? text.slice(1, -1) : text;
  if (bare.includes(":")) return canonicalIpv6(bare);
  // WHY: these characters would end the host, or change its reading, inside a URL.
  if (text.startsWith("[") || /[\s/?#@\\%:[\]]/u.test(text) || hasControl(text)) return undefined;
  const href = parseUrl(`http://${text}/`);
  if (href === undefined || !href.startsWith("http://")) return undefined;
  return canonicalHost(href.slice("http://".length, -1));
}

function canonicalIpv6(text: string): Host | undefined {
  if (text.includes("%") || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  const parts = address.parts;
  // WHY: mapped and NAT64 addresses reach an IPv4 host; they are what they mean.
  const mapped = address.isIPv4MappedAddress();
  const nat64 = parts[0] === 0x64 && parts[1] === 0xff9b && parts.slice(2, 6).every((part) => part === 0);
  if (mapped || nat64) {
    const [high, low] = [parts[6] ?? 0, parts[7] ?? 0];
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}` as Host;
  }
  return `[${address.toRFC5952String()}]` as Host;
}

/** WHY: asked by shape first, because the library answers a plain name with a caught error. */
function isDottedIpv4(host: string): boolean {
  return /^[0-9.]{7,15}$/.test(host) && ipaddr.IPv4.isValidFourPartDecimal(host);
}

export function isIpLiteral(host: Host): boolean {
  return host.startsWith("[") || isDottedIpv4(host);
}

/** `localhost`, `127.0.0.1` and `::1` are one host wherever hosts are compared. */
export function foldLocalHost(host: Host): Host {
  return host === "127.0.0.1" || host === "[::1]" ? ("localhost" as Host) : host;
}

const LOCAL_RANGES: ReadonlySet<string> = new Set(["loopback", "linkLocal", "unspecified"]);

/** Loopback, link-local (cloud metadata) or unspecified: reached only by rules that name the address itself. */
export function isLocalAddress(host: Host): boolean {
  if (host.startsWith("[")) return LOCAL_RANGES.has(ipaddr.IPv6.parse(host.slice(1, -1)).range());
  return isDottedIpv4(host) && LOCAL_RANGES.has(ipaddr.IPv4.parse(host).range());
}

/** C0, DEL and C1: never part of a name, and stripped silently by URL parsers. */
export function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}
