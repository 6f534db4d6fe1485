/**
 * Rules that no manifest spells out: they follow from configuration that the host holds. Each is as narrow as its
 * source: a configured value is a pattern, an MCP server is its origin, a one-off URL is that URL, an installer is read only.
 * Must never add a filesystem rule.
 */
import { type OperationOf, isOperationOf, OPERATIONS } from "../resource.ts";
import type { UrlParser } from "../target/host.ts";
import { type UrlTarget, originText, parseNetworkTarget } from "../target/network.ts";
import { pointerTo, quoted } from "../wire/json-pointer.ts";
import { type PointedFault, isWellFormed } from "../wire/json-value.ts";
import { readTarget } from "./declared-target.ts";
import type { ConfigUrl, ExpandedRule } from "./manifest.ts";

export interface DerivedRules {
  readonly rules: readonly ExpandedRule[];
  /** Pointers are into what was handed in: the configuration, the list of hosts, or `url` and `operation`. */
  readonly faults: readonly PointedFault[];
}

type NetworkOperation = OperationOf<"network">;

/** The configured values of the keys that an engine's manifest lists. A key without a value gives no rule. */
export function configUrlRules(
  entries: readonly ConfigUrl[],
  config: unknown,
  parseUrl: UrlParser,
): DerivedRules {
  const rules: ExpandedRule[] = [];
  const faults: PointedFault[] = [];
  for (const { key, operations } of entries) {
    const value = ownValue(config, key);
    if (value === undefined || value === null || value === "") continue;
    const pointer = pointerTo([key]);
    if (typeof value !== "string") {
      faults.push({ pointer, message: "must be text: a URL, `host` or `host:port`" });
      continue;
    }
    for (const operation of operations) {
      const read = readTarget({ resourceType: "network", operation }, value, {
        root: "/",
        variables: {},
        parseUrl,
      });
      if (read.ok) rules.push(networkRule(operation, read.target));
      else faults.push({ pointer, message: `${read.message}: ${read.instead}` });
    }
  }
  return freeze(rules, faults);
}

/** Receive and send on the origin of the configured URL; no filesystem. */
export function mcpRules(serverUrl: unknown, parseUrl: UrlParser): DerivedRules {
  const url = readUrl(serverUrl, parseUrl);
  if (typeof url === "string") return freeze([], [{ pointer: "/url", message: url }]);
  const origin = originText(url);
  return freeze([networkRule("receive", origin), networkRule("send", origin)], []);
}

/** That URL and nothing around it, for the operation that the host names. */
export function oneOffRules(
  oneOffUrl: unknown,
  parseUrl: UrlParser,
  operation: NetworkOperation = "receive",
): DerivedRules {
  const faults: PointedFault[] = [];
  const url = readUrl(oneOffUrl, parseUrl);
  if (typeof url === "string") faults.push({ pointer: "/url", message: url });
  if (!isOperationOf("network", operation)) {
    faults.push({
      pointer: "/operation",
      message: `operation of network must be one of ${OPERATIONS.network.join(", ")}`,
    });
  }
  if (faults.length > 0 || typeof url === "string") return freeze([], faults);
  // INVARIANT: `exact`, because a URL that ends in a slash, or has no path, would be a folder or an origin by its spelling.
  return freeze([Object.freeze({ ...networkRule(operation, url.text), match: "exact" })], []);
}

/** The hosts of package installers, receive only. A bare host is taken as HTTPS; clear text has to be spelled out. */
export function installerRules(hosts: readonly unknown[], parseUrl: UrlParser): DerivedRules {
  const rules: ExpandedRule[] = [];
  const faults: PointedFault[] = [];
  const seen = new Set<string>();
  for (const [index, host] of hosts.entries()) {
    const url = readUrl(
      typeof host === "string" && !host.includes("://") ? `https://${host}` : host,
      parseUrl,
    );
    if (typeof url === "string") {
      faults.push({ pointer: pointerTo([index]), message: url });
      continue;
    }
    const origin = originText(url);
    if (seen.has(origin)) continue;
    seen.add(origin);
    rules.push(networkRule("receive", origin));
  }
  return freeze(rules, faults);
}

/** A URL, or what is wrong with it. */
function readUrl(value: unknown, parseUrl: UrlParser): UrlTarget | string {
  if (typeof value === "string" && !isWellFormed(value))
    return "a surrogate stands alone: write valid Unicode";
  const parsed = parseNetworkTarget(value, parseUrl);
  if (!parsed.ok) return parsed.message;
  if (parsed.value.form === "url") return parsed.value;
  return `${quoted(String(value))} is no URL: write it with its scheme, for example \`https://mcp.example.com\``;
}

function networkRule(operation: NetworkOperation, target: string): ExpandedRule {
  return Object.freeze({ resourceType: "network", operation, target });
}

function ownValue(config: unknown, key: string): unknown {
  if (typeof config !== "object" || config === null || !Object.hasOwn(config, key)) return undefined;
  return (config as Readonly<Record<string, unknown>>)[key];
}

function freeze(rules: readonly ExpandedRule[], faults: readonly PointedFault[]): DerivedRules {
  return Object.freeze({ rules: Object.freeze([...rules]), faults: Object.freeze([...faults]) });
}
