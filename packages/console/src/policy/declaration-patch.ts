/** What a manifest could declare instead of being approved each time; a hint, as a JSON Patch. */
import type { Approval, WireAccessRule } from "@sallyport/contract";

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
