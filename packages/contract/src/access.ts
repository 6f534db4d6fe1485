/**
 * Access: a legal pair of resource type and operation together with a normalized target.
 */
import { type Fault, type Parsed, fault, ok } from "./parsed.ts";
import {
  OPERATIONS,
  RESOURCE_TYPES,
  type ResourceType,
  type OperationOf,
  isOperationOf,
  isResourceType,
} from "./resource.ts";
import { type FilesystemTarget, parseFilesystemTarget } from "./target/filesystem.ts";
import type { UrlParser } from "./target/host.ts";
import { type NetworkTarget, parseNetworkTarget } from "./target/network.ts";
import { type SystemDependencyTarget, parseSystemDependencyTarget } from "./target/system-dependency.ts";

export interface TargetOf {
  readonly network: NetworkTarget;
  readonly filesystem: FilesystemTarget;
  readonly system_dependency: SystemDependencyTarget;
}

export type Target<R extends ResourceType = ResourceType> = TargetOf[R];

/** One member per legal pair: an illegal pair, or a target of another resource type, does not compile. */
export type Access<R extends ResourceType = ResourceType> = {
  [K in R]: {
    [O in OperationOf<K>]: { readonly resourceType: K; readonly operation: O; readonly target: TargetOf[K] };
  }[OperationOf<K>];
}[R];

export interface RawAccess {
  readonly resourceType: unknown;
  readonly operation: unknown;
  readonly target: unknown;
}

/** Parses at the edge. Filesystem targets must be real paths already; see `resolveFilesystemTarget`. */
export function parseAccess(raw: RawAccess, parseUrl: UrlParser): Parsed<Access> {
  const { resourceType, operation, target } = raw;
  const pairFault = checkPair(resourceType, operation);
  if (pairFault !== undefined) return pairFault;
  const parsed = parseTarget(resourceType as ResourceType, target, parseUrl);
  if (!parsed.ok) return parsed;
  return accessTo(operation as string, parsed.value);
}

export function parseTarget(
  resourceType: ResourceType,
  target: unknown,
  parseUrl: UrlParser,
): Parsed<Target> {
  switch (resourceType) {
    case "network":
      return parseNetworkTarget(target, parseUrl);
    case "filesystem":
      return parseFilesystemTarget(target);
    case "system_dependency":
      return parseSystemDependencyTarget(target);
  }
}

/** Joins an operation with a parsed target, or says which operations that target has. */
export function accessTo(operation: string, target: Target): Parsed<Access> {
  const pairFault = checkPair(target.resourceType, operation);
  if (pairFault !== undefined) return pairFault;
  if (target.form === "unix" && operation !== "connect") {
    return fault("invalid_target", "target", "a unix socket has the operation `connect` only");
  }
  return ok(Object.freeze({ resourceType: target.resourceType, operation, target }) as Access);
}

/** The fault of an unknown type, an unknown operation or a pair that does not belong together. */
export function checkPair(resourceType: unknown, operation: unknown): Fault | undefined {
  if (!isResourceType(resourceType)) {
    const hint = resourceType === "url" ? "; a URL is a `network` target" : "";
    return fault(
      "invalid_operation",
      "resource_type",
      `resource type must be one of ${RESOURCE_TYPES.join(", ")}${hint}`,
    );
  }
  if (!isOperationOf(resourceType, operation)) {
    return fault(
      "invalid_operation",
      "operation",
      `operation of ${resourceType} must be one of ${OPERATIONS[resourceType].join(", ")}`,
    );
  }
  return undefined;
}
