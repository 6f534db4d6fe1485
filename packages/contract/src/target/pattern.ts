/**
 * Patterns: what a declaration, a rule, an approval or a denial covers. A declaration's spelling says how
 * wide it is; an approval says so by its `match`, and its spelling never decides.
 *
 * A pattern is compared by its fields. `text` is in match form: ws is http, wss is https, the local hosts are one.
 */
import { type Fault, type Parsed, fault, ok } from "../parsed.ts";
import type { ResourceType } from "../resource.ts";
import { canonicalFilesystemPath } from "./filesystem.ts";
import { type Host, type UrlParser, foldLocalHost } from "./host.ts";
import { type NetworkTarget, type UrlTarget, parseNetworkTarget, urlText } from "./network.ts";
import { parseSystemDependencyTarget, type SystemDependencyTarget } from "./system-dependency.ts";
import type { FilesystemTarget } from "./filesystem.ts";

export const MATCHES = ["exact", "any_query", "path_prefix", "origin", "endpoint", "directory"] as const;
/** How far a stored approval or denial reaches around its target. */
export type Match = (typeof MATCHES)[number];

export type Pattern =
  /** One URL, its query (or the absence of one) included. */
  | { readonly kind: "url"; readonly text: string }
  /** One URL with any query. */
  | { readonly kind: "url_any_query"; readonly text: string }
  /** Every URL below a folder; `text` ends in a slash. */
  | { readonly kind: "url_prefix"; readonly text: string }
  | { readonly kind: "origin"; readonly host: Host; readonly port: number; readonly secure: boolean }
  /** URL or socket on a host and port. */
  | { readonly kind: "host_port"; readonly host: Host; readonly port: number }
  /** URL or socket on a host, any port. */
  | { readonly kind: "host"; readonly host: Host }
  /** Exactly the endpoint that was asked for, never a URL. */
  | { readonly kind: "socket"; readonly host: Host; readonly port: number | undefined }
  | { readonly kind: "unix"; readonly text: string }
  | { readonly kind: "path"; readonly text: string }
  /** A folder and all below it; `text` has no trailing slash, the root is empty. */
  | { readonly kind: "tree"; readonly text: string }
  | { readonly kind: "name"; readonly text: string };

export type PatternKind = Pattern["kind"];

/** A declared target: absolute, as written in a manifest or rule once the host has expanded it. */
export function parsePattern(
  resourceType: ResourceType,
  text: unknown,
  parseUrl: UrlParser,
): Parsed<Pattern> {
  switch (resourceType) {
    case "network": {
      const parsed = parseNetworkTarget(text, parseUrl);
      return parsed.ok ? ok(networkPattern(parsed.value)) : parsed;
    }
    case "filesystem": {
      const path = typeof text === "string" ? canonicalFilesystemPath(text) : undefined;
      if (path === undefined) return bad("filesystem target must be an absolute path without `..` and NUL");
      const isTree = (text as string).endsWith("/");
      return ok(isTree ? treePattern(path) : { kind: "path", text: path });
    }
    case "system_dependency": {
      const parsed = parseSystemDependencyTarget(text);
      return parsed.ok ? ok({ kind: "name", text: parsed.value.text }) : parsed;
    }
  }
}

/** The pattern of a stored approval or denial. */
export function patternOf(
  target: NetworkTarget | FilesystemTarget | SystemDependencyTarget,
  match: Match,
): Parsed<Pattern> {
  if (match === "exact") return ok(exactPattern(target));
  if (match === "directory") {
    return target.form === "path"
      ? ok(treePattern(target.text))
      : bad("match `directory` needs a filesystem target");
  }
  if (match === "endpoint" && target.form === "endpoint") {
    return ok(endpointPattern(foldLocalHost(target.host), target.port));
  }
  if (target.form !== "url") return bad(`match \`${match}\` needs a URL`);
  const url = foldUrl(target);
  switch (match) {
    case "any_query":
      return ok({ kind: "url_any_query", text: urlText({ ...url, query: undefined }) });
    case "path_prefix":
      if (!url.path.endsWith("/") || url.query !== undefined) {
        return bad("match `path_prefix` needs a URL whose path ends in `/`, without a query");
      }
      return ok({ kind: "url_prefix", text: urlText(url) });
    case "origin":
      return ok(originPattern(url));
    case "endpoint":
      return ok(endpointPattern(url.host, url.port));
  }
}

/** A URL in match form. */
export function foldUrl(target: UrlTarget): UrlTarget {
  const host = foldLocalHost(target.host);
  const scheme = target.scheme === "ws" ? "http" : target.scheme === "wss" ? "https" : target.scheme;
  if (host === target.host && scheme === target.scheme) return target;
  const folded = { ...target, host, scheme };
  return { ...folded, text: urlText(folded) as UrlTarget["text"] };
}

const DECODING_ROUNDS_MAX = 8;

/**
 * Whether a path holds a backslash, an encoded slash or backslash, or a segment that decodes to `.` or `..`, at any
 * depth of encoding: what prefix patterns cannot judge, because servers disagree on it.
 */
export function isAmbiguousPath(path: string): boolean {
  if (path.includes("\\")) return true;
  let decoded = path;
  for (let round = 0; decoded.includes("%"); round++) {
    const next = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => decodedCharacter(hex));
    if (next === decoded) break;
    if (round === DECODING_ROUNDS_MAX || next.includes(DECODED_SEPARATOR)) return true;
    decoded = next;
  }
  return /\/\.{1,2}(?:\/|$)/.test(decoded);
}

const DECODED_SEPARATOR = "\uffff";

function decodedCharacter(hex: string): string {
  const character = String.fromCharCode(Number.parseInt(hex, 16));
  return character === "/" || character === "\\" ? DECODED_SEPARATOR : character;
}

function networkPattern(target: NetworkTarget): Pattern {
  if (target.form === "unix") return { kind: "unix", text: target.path };
  if (target.form === "endpoint") return endpointPattern(foldLocalHost(target.host), target.port);
  const url = foldUrl(target);
  if (url.query !== undefined) return { kind: "url", text: url.text };
  if (!hasWrittenPath(target.requested)) return originPattern(url);
  const kind = url.path.endsWith("/") ? "url_prefix" : "url_any_query";
  return { kind, text: url.text };
}

/** WHY: `https://host` is the origin and covers sockets, `https://host/` is a folder and does not; both normalize alike. */
function hasWrittenPath(requested: string): boolean {
  const authority = requested.replace(/^[ ]*[a-zA-Z]+:[/\\]*/, "");
  return /[/\\]/.test(authority.replace(/[?#].*$/s, ""));
}

function exactPattern(target: NetworkTarget | FilesystemTarget | SystemDependencyTarget): Pattern {
  switch (target.form) {
    case "url":
      return { kind: "url", text: foldUrl(target).text };
    case "endpoint":
      return { kind: "socket", host: foldLocalHost(target.host), port: target.port };
    case "unix":
      return { kind: "unix", text: target.path };
    case "path":
      return { kind: "path", text: target.text };
    case "name":
      return { kind: "name", text: target.text };
  }
}

function originPattern(url: UrlTarget): Pattern {
  return { kind: "origin", host: url.host, port: url.port, secure: url.scheme === "https" };
}

function endpointPattern(host: Host, port: number | undefined): Pattern {
  return port === undefined ? { kind: "host", host } : { kind: "host_port", host, port };
}

function treePattern(path: string): Pattern {
  return { kind: "tree", text: path === "/" ? "" : path };
}

function bad(message: string): Fault {
  return fault("invalid_target", "target", message);
}
