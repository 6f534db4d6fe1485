/**
 * Declared filesystem rules by their real paths, as links stand at load time. Trusts the host's folders, which are
 * real already; trusts no link that the subject brought along or could have made itself.
 */
import {
  type ManifestFault,
  type ManifestRule,
  type ManifestVariable,
  MANIFEST_VARIABLES,
  quoted,
} from "@sallyport/contract";
import { realPath } from "@sallyport/gate";
import type { AccessRule } from "@sallyport/policy";
import { linksOnTheWay } from "./link-walk.ts";

export interface RealFolders {
  /** Real path; absent where the subject has no folder. */
  readonly root: string | undefined;
  readonly variables: { readonly [V in ManifestVariable]?: string | undefined };
  /** Folders that are the subject's to fill: their links are of its making. */
  readonly ownFolders: readonly string[];
  /** What the subject could do until now, by real paths; empty where it was not registered before. */
  readonly before: readonly AccessRule[];
}

export interface RealRules {
  readonly rules: readonly AccessRule[];
  readonly faults: readonly ManifestFault[];
}

interface Walked {
  readonly rule: ManifestRule;
  readonly path: string;
  readonly isTree: boolean;
  readonly real: string;
}

/** `beside`: all rules of the manifest, in every phase, since a link may be made in one phase and used in another. */
export function realRules(
  declared: readonly ManifestRule[],
  beside: readonly ManifestRule[],
  folders: RealFolders,
): RealRules {
  const faults: ManifestFault[] = [];
  const changeable = changeableFolders(beside, folders);
  const rules = declared.map((rule) => {
    if (rule.resourceType !== "filesystem") return plainRule(rule, rule.target);
    const walked = walk(rule);
    const fault = walked.real === walked.path ? undefined : linkFault(walked, folders, changeable);
    if (fault !== undefined) faults.push(fault);
    return plainRule(rule, walked.isTree && walked.real !== "/" ? `${walked.real}/` : walked.real);
  });
  return { rules: Object.freeze(rules), faults };
}

/**
 * INVARIANT: every field is the rule's own. A rule without a `match` says so itself, or a polluted prototype would
 * say how wide it is.
 */
export function plainRule(rule: AccessRule, target: string): AccessRule {
  const match = Object.hasOwn(rule, "match") ? rule.match : undefined;
  return Object.freeze({ resourceType: rule.resourceType, operation: rule.operation, target, match });
}

/** WHY: `delete` of one path takes the link away and not what it leads to. What cannot be walked stays as it was written. */
function walk(rule: ManifestRule): Walked {
  const isTree = rule.target.endsWith("/");
  const path = pathOf(rule.target);
  const lastLink = rule.operation === "delete" && !isTree ? "keep" : "follow";
  return { rule, path, isTree, real: realPath(path, lastLink) ?? path };
}

function linkFault(
  { rule, path, real }: Walked,
  folders: RealFolders,
  changeable: readonly string[],
): ManifestFault | undefined {
  const pointer = `${rule.pointer}/target`;
  const base = baseOf(rule.declared, folders);
  if (base !== undefined && !isWithin(real, base)) {
    return Object.freeze({
      pointer,
      message: `${quoted(rule.declared)} leads through a link out of the folder that it starts from`,
      instead: `write the real path ${quoted(real)}, if that is meant`,
    });
  }
  for (const link of linksOnTheWay(path)) {
    const own = changeable.filter((folder) => isWithin(link, folder));
    if (own.length === 0 || own.some((folder) => isWithin(real, folder))) continue;
    return Object.freeze({
      pointer,
      message: `${quoted(rule.declared)} leads through the link ${quoted(link)}, which the subject can make itself`,
      instead: `write the real path ${quoted(real)}, if that is meant`,
    });
  }
  return undefined;
}

/**
 * Where the subject may make links, or could until now: by its own rules, and in its own folders.
 * WHY by real paths: a declared folder that is itself a link when it is first loaded was made by the host.
 */
function changeableFolders(
  rules: readonly ManifestRule[],
  { ownFolders, before }: RealFolders,
): readonly string[] {
  const own = rules.filter(makesLinks).map((rule) => walk(rule).real);
  const until = before.filter(makesLinks).map(({ target }) => pathOf(target));
  return [...own, ...until, ...ownFolders];
}

function makesLinks({ resourceType, operation }: AccessRule): boolean {
  return resourceType === "filesystem" && (operation === "create" || operation === "modify");
}

function pathOf(target: string): string {
  return target.endsWith("/") && target !== "/" ? target.slice(0, -1) : target;
}

/** The folder that a relative target, or one with a variable, starts from. */
function baseOf(declared: string, { root, variables }: RealFolders): string | undefined {
  if (declared.startsWith("/")) return undefined;
  const variable = MANIFEST_VARIABLES.find((name) => declared.startsWith(`\${${name}}`));
  return variable === undefined ? root : variables[variable];
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
