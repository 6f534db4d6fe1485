/**
 * From what a program was seen to need to the narrowest declarations that cover it: one path, one URL, one endpoint, one
 * program each, and nothing beside it. Pure. A person reads the draft before anything is allowed by it.
 */
import type { Seen, SeenAccess, SeenImport } from "./seen-book.ts";

/** An entry of `access`, with what it stands on. */
export interface DraftRule {
  readonly resourceType: string;
  readonly operation: string;
  /** As a manifest writes it. */
  readonly target: string;
  readonly count: number;
  readonly evidence: readonly string[];
  /** Why it covers more than was seen; `null` where it does not. */
  readonly wider: string | null;
}

export interface LeftOut {
  readonly seen: SeenAccess;
  readonly reason: string;
}

export interface Draft {
  /** What the manifest lacks. */
  readonly rules: readonly DraftRule[];
  readonly imports: readonly SeenImport[];
  /** What no declaration can say narrowly enough. */
  readonly leftOut: readonly LeftOut[];
  /** Seen, and declared already. */
  readonly covered: number;
}

export interface DraftPorts {
  /** Real path of the folder that relative targets start from. */
  readonly root: string;
  /** Whether the manifest as it is allows it. */
  readonly isCovered: (seen: SeenAccess) => boolean;
  /** Sensitive imports that the manifest lists. */
  readonly listedImports: readonly string[];
}

const EVIDENCE_MAX = 3;
const BELOW = "a URL that ends in a slash covers every path below it";

export function draftManifest(seen: Seen, { root, isCovered, listedImports }: DraftPorts): Draft {
  const open = seen.access.filter((one) => !isCovered(one));
  const leftOut: LeftOut[] = [];
  const rules: DraftRule[] = [];
  for (const one of open.toSorted(byPlace)) {
    const written = targetOf(one, root);
    if ("reason" in written) {
      leftOut.push({ seen: one, reason: written.reason });
      continue;
    }
    const at = rules.findIndex((rule) => isSame(rule, one, written.target));
    const earlier = rules[at];
    if (earlier === undefined) rules.push(ruleOf(one, written));
    else rules[at] = joined(earlier, one);
  }
  return Object.freeze<Draft>({
    rules,
    imports: seen.imports.filter(({ name }) => !listedImports.includes(name)),
    leftOut,
    covered: seen.access.length - open.length,
  });
}

type Written = { readonly target: string; readonly wider: string | null } | { readonly reason: string };

function targetOf({ resourceType, target }: SeenAccess, root: string): Written {
  switch (resourceType) {
    case "filesystem":
      return pathTarget(target, root);
    case "network":
      return networkTarget(target);
    case "system_dependency":
      return { target, wider: null };
    default:
      return { reason: `\`${resourceType}\` is no resource type` };
  }
}

function pathTarget(path: string, root: string): Written {
  if (path.endsWith("/"))
    return { reason: "a rule for it would cover everything below: declare what is needed there" };
  if (path.includes("${")) return { reason: "a path with `${` cannot be declared: rename it" };
  const inside = root === "/" ? "/" : `${root}/`;
  return { target: path.startsWith(inside) ? `./${path.slice(inside.length)}` : path, wider: null };
}

/** WHY without the query: it may hold a secret, and a manifest is read by everybody. */
function networkTarget(target: string): Written {
  if (!/^(?:https?|wss?):\/\//.test(target)) return { target, wider: null };
  const query = target.indexOf("?");
  const url = query < 0 ? target : target.slice(0, query);
  return { target: url, wider: url.endsWith("/") ? BELOW : null };
}

function ruleOf({ resourceType, operation, count, evidence }: SeenAccess, written: DraftTarget): DraftRule {
  return { resourceType, operation, ...written, count, evidence: evidence === null ? [] : [evidence] };
}

type DraftTarget = Exclude<Written, { readonly reason: string }>;

function isSame(rule: DraftRule, { resourceType, operation }: SeenAccess, target: string): boolean {
  return rule.resourceType === resourceType && rule.operation === operation && rule.target === target;
}

function joined(rule: DraftRule, { count, evidence }: SeenAccess): DraftRule {
  const isNew = evidence !== null && !rule.evidence.includes(evidence) && rule.evidence.length < EVIDENCE_MAX;
  return {
    ...rule,
    count: rule.count + count,
    evidence: isNew ? [...rule.evidence, evidence] : rule.evidence,
  };
}

/** A manifest that was learned twice reads the same. */
function byPlace(one: SeenAccess, other: SeenAccess): number {
  return (
    compared(one.resourceType, other.resourceType) ||
    compared(one.target, other.target) ||
    compared(one.operation, other.operation)
  );
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
