/**
 * Which rules of a list add nothing, because a wider rule for the same pair covers them.
 * Looks up the few patterns that could cover a rule; never compares rules pair by pair.
 */
import { pairIndex } from "../resource.ts";
import type { Host } from "../target/host.ts";
import { type UrlTarget, originText } from "../target/network.ts";
import { foldUrl, isAmbiguousPath } from "../target/pattern.ts";
import type { ReadRule } from "./access-entry.ts";

/** WHY: a path with more segments is not looked at, so that the work stays linear in the length of the manifest. */
const SEGMENTS_MAX = 64;

/** The rules for one port of a host, by whether they ask for a secure scheme. */
interface Origins {
  secure?: ReadRule;
  clear?: ReadRule;
}

interface PatternIndex {
  /** By the kind of the pattern, then by its text. */
  readonly texts: Map<string, Map<string, ReadRule>>;
  readonly origins: Map<Host, Map<number, Origins>>;
  readonly ports: Map<Host, Map<number, ReadRule>>;
}

/** Each rule that is covered, with the wider or earlier rule that covers it. */
export function redundantRules(rules: readonly ReadRule[]): ReadonlyMap<ReadRule, ReadRule> {
  const indexes = new Map<number, PatternIndex>();
  for (const rule of rules) addTo(indexOf(indexes, rule), rule);
  const redundant = new Map<ReadRule, ReadRule>();
  for (const rule of rules) {
    const wider = coveringRule(indexOf(indexes, rule), rule);
    if (wider !== undefined && wider !== rule) redundant.set(rule, wider);
  }
  return redundant;
}

function indexOf(indexes: Map<number, PatternIndex>, { rule }: ReadRule): PatternIndex {
  const pair = pairIndex(rule.resourceType, rule.operation);
  const index = indexes.get(pair) ?? { texts: new Map(), origins: new Map(), ports: new Map() };
  indexes.set(pair, index);
  return index;
}

function addTo(index: PatternIndex, rule: ReadRule): void {
  const { pattern } = rule.read;
  switch (pattern.kind) {
    case "origin": {
      const ports = at(index.origins, pattern.host, () => new Map<number, Origins>());
      const origins: Origins = at(ports, pattern.port, () => ({}));
      if (pattern.secure) origins.secure ??= rule;
      else origins.clear ??= rule;
      return;
    }
    case "host_port":
      at(at(index.ports, pattern.host, newMap), pattern.port, () => rule);
      return;
    case "host":
      at(at(index.texts, "host", newMap), pattern.host, () => rule);
      return;
    case "socket":
      return;
    case "url":
    case "url_any_query":
    case "url_prefix":
    case "unix":
    case "path":
    case "tree":
    case "name":
      at(at(index.texts, pattern.kind, newMap), pattern.text, () => rule);
  }
}

/** The widest rule that covers this one; the rule itself, or an earlier equal one, where nothing wider does. */
function coveringRule(index: PatternIndex, rule: ReadRule): ReadRule | undefined {
  const { pattern, network } = rule.read;
  const textRule = (kind: string, text: string) => index.texts.get(kind)?.get(text);
  switch (pattern.kind) {
    case "tree":
    case "path":
      return (
        firstOf(foldersAbove(pattern.text), (folder) => textRule("tree", folder)) ??
        textRule("tree", pattern.text) ??
        textRule("path", pattern.text)
      );
    case "unix":
    case "name":
      return textRule(pattern.kind, pattern.text);
    case "host":
      return textRule("host", pattern.host);
    case "host_port":
      return textRule("host", pattern.host) ?? index.ports.get(pattern.host)?.get(pattern.port);
    case "origin":
      return (
        textRule("host", pattern.host) ??
        index.ports.get(pattern.host)?.get(pattern.port) ??
        originRule(index, pattern)
      );
    case "socket":
      return undefined;
    case "url":
    case "url_any_query":
    case "url_prefix":
      return network?.form === "url" ? urlRule(index, foldUrl(network), pattern) : undefined;
  }
}

function urlRule(
  index: PatternIndex,
  url: UrlTarget,
  pattern: { readonly kind: string; readonly text: string },
): ReadRule | undefined {
  const origin = { host: url.host, port: url.port, secure: url.scheme === "https" };
  const texts = (kind: string, text: string) => index.texts.get(kind)?.get(text);
  return (
    texts("host", url.host) ??
    index.ports.get(url.host)?.get(url.port) ??
    originRule(index, origin) ??
    (isAmbiguousPath(url.path)
      ? undefined
      : firstOf(foldersAbove(url.path), (folder) => texts("url_prefix", `${originText(url)}${folder}/`))) ??
    texts("url_any_query", `${originText(url)}${url.path}`) ??
    texts(pattern.kind, pattern.text)
  );
}

function originRule(
  index: PatternIndex,
  { host, port, secure }: { readonly host: Host; readonly port: number; readonly secure: boolean },
): ReadRule | undefined {
  const origins = index.origins.get(host)?.get(port);
  return secure ? origins?.secure : origins?.clear;
}

/** `/a/b/c` lies below the folders ``, `/a` and `/a/b`; the root first. */
function foldersAbove(path: string): readonly string[] {
  const folders: string[] = [];
  for (
    let slash = path.indexOf("/");
    slash >= 0 && folders.length < SEGMENTS_MAX;
    slash = path.indexOf("/", slash + 1)
  ) {
    folders.push(path.slice(0, slash));
  }
  return folders;
}

function firstOf<T>(texts: readonly string[], find: (text: string) => T | undefined): T | undefined {
  for (const text of texts) {
    const found = find(text);
    if (found !== undefined) return found;
  }
  return undefined;
}

const newMap = <K, V>(): Map<K, V> => new Map<K, V>();

/** The value at a key, put there first where there is none. */
function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const held = map.get(key);
  if (held !== undefined) return held;
  const made = make();
  map.set(key, made);
  return made;
}
