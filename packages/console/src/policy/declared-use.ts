/**
 * Declarations held against what the log has seen, and what a declaration could add. For reading only: which pattern
 * covers what is the policy engine's to say, and this is a hint at what to look at.
 */
import type { Approval, WireAccessRule } from "@sallyport/contract";
import type { EventView } from "@sallyport/contract/admin";
import { networkParts } from "../display/network-parts.ts";

export interface DeclaredUse {
  readonly rule: WireAccessRule;
  /** How many of the events that were looked at it seems to have allowed. */
  readonly seen: number;
}

export function declaredUse(
  access: readonly WireAccessRule[],
  events: readonly EventView[],
): readonly DeclaredUse[] {
  return access.map((rule) => ({
    rule,
    seen: events.filter((event) => event.code === "allowed_sandbox" && seemsCovered(rule, event)).length,
  }));
}

function seemsCovered(rule: WireAccessRule, event: EventView): boolean {
  if (event.resourceType !== rule.resourceType || event.operation !== rule.operation || event.target === null)
    return false;
  if (event.target === rule.target) return true;
  if (rule.target.endsWith("/")) return event.target.startsWith(rule.target);
  if (rule.resourceType !== "network") return false;
  const seen = networkParts(event.target);
  const declared = networkParts(rule.target);
  if (seen === null || declared === null || seen.host !== declared.host) return false;
  return declared.scheme === "" || (declared.scheme === seen.scheme && declared.rest === "");
}

/** Permanent approvals that a declaration could hold instead, as a JSON Patch of the manifest. */
export function declarationPatch(
  grants: readonly Approval[],
  access: readonly WireAccessRule[],
): string | null {
  const missing = grants.filter(
    ({ scope, resource }) =>
      scope === "permanent" &&
      !access.some(
        (rule) =>
          rule.resourceType === resource.type &&
          rule.operation === resource.operation &&
          rule.target === resource.target,
      ),
  );
  if (missing.length === 0) return null;
  const steps = missing.map(({ resource, match }) => ({
    op: "add",
    path: "/access/-",
    value: {
      resource_type: resource.type,
      operation: resource.operation,
      target:
        (match === "directory" || match === "path_prefix") && !resource.target.endsWith("/")
          ? `${resource.target}/`
          : resource.target,
    },
  }));
  return `[\n${steps.map((step) => JSON.stringify(step)).join(",\n")}\n]`;
}
