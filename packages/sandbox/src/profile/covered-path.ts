/**
 * Which paths the rules cover, operation by operation, with everything taken out that is withheld. Pure.
 */
import { type ExpandedRule, type Pattern, parsePattern, whatwgUrl } from "@sallyport/contract";
import type { FileOperation } from "./landlock-right.ts";

export interface Covered {
  readonly path: string;
  readonly reach: "exact" | "tree";
  readonly operations: readonly FileOperation[];
}

export interface Cover {
  readonly grants: readonly Covered[];
  /** Allowed but for a part of it: no grant, so that each use is asked. */
  readonly excepted: readonly PathPattern[];
  /** Programs that may be started but hold something that may not be read: the kernel opens a program for reading. */
  readonly blind: readonly Covered[];
  readonly faults: readonly string[];
}

export interface PathPattern {
  readonly operation: FileOperation;
  readonly path: string;
  readonly reach: "exact" | "tree";
}

const ORDER: readonly FileOperation[] = ["read", "create", "modify", "delete", "execute"];

export function coverRules(
  allow: readonly ExpandedRule[],
  withheld: readonly ExpandedRule[],
  programPaths: (name: string) => readonly string[],
): Cover {
  const faults: string[] = [];
  const patterns = (rules: readonly ExpandedRule[]): readonly PathPattern[] =>
    rules.flatMap((rule) => pathPatterns(rule, programPaths, faults));
  const kept = patterns(withheld);
  const excepted: PathPattern[] = [];
  /** Nested, so that no path is joined with anything. */
  const cover = { exact: new Map<string, Set<FileOperation>>(), tree: new Map<string, Set<FileOperation>>() };
  for (const pattern of patterns(allow)) {
    const inTheWay = kept.filter(
      (other) => other.operation === pattern.operation && overlaps(pattern, other),
    );
    if (inTheWay.length === 0) {
      const operations = cover[pattern.reach].get(pattern.path) ?? new Set();
      cover[pattern.reach].set(pattern.path, operations.add(pattern.operation));
    } else if (!inTheWay.some((other) => covers(other, pattern))) {
      excepted.push(pattern);
    }
  }
  const grants = (["tree", "exact"] as const).flatMap((reach) =>
    [...cover[reach]].map(([path, operations]) =>
      Object.freeze({ path, reach, operations: ORDER.filter((operation) => operations.has(operation)) }),
    ),
  );
  const unread = kept.filter(({ operation }) => operation === "read");
  const blind = grants.filter(
    ({ path, reach, operations }) =>
      operations.includes("execute") &&
      unread.some((other) => overlaps({ operation: "execute", path, reach }, other)),
  );
  return { grants, excepted, blind, faults };
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function overlaps(pattern: PathPattern, other: PathPattern): boolean {
  return covers(other, pattern) || covers(pattern, other);
}

function covers(wide: PathPattern, narrow: PathPattern): boolean {
  if (wide.reach === "tree") return isWithin(narrow.path, wide.path);
  return narrow.reach === "exact" && narrow.path === wide.path;
}

function pathPatterns(
  rule: ExpandedRule,
  programPaths: (name: string) => readonly string[],
  faults: string[],
): readonly PathPattern[] {
  if (rule.resourceType === "network") return [];
  const parsed = parsePattern(rule.resourceType, rule.target, whatwgUrl);
  if (!parsed.ok) {
    faults.push(`\`${rule.target}\`: ${parsed.message}`);
    return [];
  }
  if (rule.resourceType === "system_dependency") {
    return programPaths(rule.target).map((path) => ({ operation: "execute", path, reach: "exact" }));
  }
  return [{ operation: rule.operation, ...reachOf(parsed.value, rule) }];
}

function reachOf(pattern: Pattern, rule: ExpandedRule): Pick<PathPattern, "path" | "reach"> {
  if (pattern.kind !== "tree")
    return { path: "text" in pattern ? pattern.text : rule.target, reach: "exact" };
  const path = pattern.text === "" ? "/" : pattern.text;
  return { path, reach: rule.match === "exact" ? "exact" : "tree" };
}
