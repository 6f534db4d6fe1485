/**
 * What a declared rule, an approval or a denial reaches: the second model of section 2 of the specification.
 * Knows nothing of the engine's matcher. "Point n" is decision 0002.
 */
import {
  type Access,
  type Host,
  type Match,
  type NetworkTarget,
  type Target,
  type UrlTarget,
  foldLocalHost,
  isIpLiteral,
  isLocalAddress,
  parseTarget,
  withHost,
} from "@sallyport/contract";
import type { AccessRule, Approval, Denial, Question } from "../question.ts";

/** WHY not `URL.canParse`: in Node 20 it refuses Latin-1 host names once it is compiled. */
export function parseUrl(text: string): string | undefined {
  try {
    return new URL(text).href;
  } catch {
    return undefined;
  }
}

/** An access that has no fault, and the two ways it is looked at (points 19, 20 and 23). */
export interface Sight {
  readonly access: Access;
  readonly mayAllow: readonly Access[];
  readonly mayRestrict: readonly Access[];
}

export function look(question: Question, access: Access): Sight {
  const { twin } = question;
  const twins = twin === undefined ? [] : [twin];
  // Point 23: a bare name is allowed by its path too, a path is never allowed by its name.
  const allowTwins = access.resourceType === "system_dependency" ? twins : [];
  const mayAllow = [...onHosts(access, (host) => allowHosts(host, question)), ...allowTwins];
  const mayRestrict = [...onHosts(access, (host) => restrictHosts(host, question)), ...twins];
  return { access, mayAllow, mayRestrict };
}

function onHosts(access: Access, hostsOf: (host: Host) => readonly Host[]): Access[] {
  const { target } = access;
  if (target.resourceType !== "network" || target.form === "unix") return [access];
  return hostsOf(target.host).map((host) => ({ ...access, target: withHost(target, host) }) as Access);
}

/** Points 19 and 21: what may allow. */
function allowHosts(host: Host, { address, aliases = [] }: Question): readonly Host[] {
  if (isIpLiteral(host)) return isLocalAddress(host) ? [host] : [host, ...aliases.slice(0, 64)];
  return address !== undefined && isLocalAddress(address) ? [address] : [host];
}

/** Points 20 and 21: what restricts. */
function restrictHosts(host: Host, { address, aliases = [] }: Question): readonly Host[] {
  return [host, ...(address === undefined ? [] : [address]), ...aliases.slice(0, 64)];
}

/** A declared rule, spelled as in a manifest. What does not parse matches nothing. */
export function declares(rule: AccessRule, forms: readonly Access[]): boolean {
  return forms
    .filter((form) => isSamePair(rule, form))
    .some((form) => {
      const written = parseTarget(rule.resourceType, rule.target, parseUrl);
      return written.ok && covers(written.value, spelledMatch(rule.target, written.value), form.target);
    });
}

/** An approval or denial: a normalized target, and `match` says how far it reaches. */
export function decides(decision: Approval | Denial, forms: readonly Access[]): boolean {
  return forms
    .filter((form) => isSamePair(decision, form))
    .some((form) => {
      const written = parseTarget(decision.resourceType, decision.target, parseUrl);
      return written.ok && covers(written.value, decision.match, form.target);
    });
}

/** No operation implies another. */
function isSamePair(written: AccessRule | Approval | Denial, asked: Access): boolean {
  return written.resourceType === asked.resourceType && written.operation === asked.operation;
}

/** Section 2 and point 24: how far a declared text reaches. */
function spelledMatch(text: string, target: Target): Match {
  if (target.form === "path") return text.endsWith("/") ? "directory" : "exact";
  if (target.form === "endpoint") return "endpoint";
  if (target.form !== "url") return "exact";
  if (/^ *[a-z]+:[/\\]*[^/\\?#]*$/i.test(text)) return "origin";
  if (target.query !== undefined) return "exact";
  return target.path.endsWith("/") ? "path_prefix" : "any_query";
}

/** Whether what was written reaches what is asked. A match that does not fit the target reaches nothing. */
function covers(written: Target, match: Match, asked: Target): boolean {
  if (match === "directory") {
    return written.form === "path" && asked.form === "path" && isAtOrBelow(asked.text, written.text);
  }
  if (written.resourceType !== "network" || asked.resourceType !== "network") {
    return match === "exact" && written.text === asked.text;
  }
  if (written.form === "unix" || asked.form === "unix") {
    return (match === "exact" || match === "endpoint") && written.text === asked.text;
  }
  return foldLocalHost(written.host) === foldLocalHost(asked.host) && coversOnHost(written, match, asked);
}

type Hosted = Exclude<NetworkTarget, { form: "unix" }>;

/** The hosts are the same already. */
function coversOnHost(written: Hosted, match: Match, asked: Hosted): boolean {
  // A host covers any port and a look-up of it; `host:port` and a URL cover their port only.
  if (match === "endpoint") return written.port === undefined || written.port === asked.port;
  if (written.form === "endpoint") {
    return match === "exact" && asked.form === "endpoint" && written.port === asked.port;
  }
  if (written.port !== asked.port) return false;
  // A raw socket is covered by an origin, and never by anything with a path.
  if (asked.form === "endpoint") return match === "origin";
  if (isSecure(written) !== isSecure(asked)) return false;
  if (match === "origin") return true;
  if (match === "any_query") return written.path === asked.path;
  if (match === "path_prefix") return isAtOrBelow(asked.path, written.path) && !isAmbiguous(asked.path);
  return match === "exact" && written.path === asked.path && written.query === asked.query;
}

/** `/v1` reaches `/v1` and `/v1/x`, and `/v1/` reaches `/v1/` and `/v1/x`; neither reaches `/v10`. */
function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** `ws` is `http` and `wss` is `https`. */
function isSecure({ scheme }: UrlTarget): boolean {
  return scheme === "https" || scheme === "wss";
}

/** Point 25: an encoded slash, a backslash or a dot segment, at any depth of encoding. */
function isAmbiguous(path: string): boolean {
  return path
    .split("/")
    .map(decodeFully)
    .some((segment) => /[/\\]|^\.\.?$/.test(segment));
}

function decodeFully(segment: string): string {
  const decoded = segment.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decoded === segment ? segment : decodeFully(decoded);
}
