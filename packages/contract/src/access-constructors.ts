/**
 * Access by name: `network.receive("https://…")`, `filesystem.read("/…")`, `systemDependency.execute("ffmpeg")`.
 * Built from the table of operations, so that `network.read` is no type and no property. Parses like every edge:
 * the result is an access or a fault.
 */
import { type TargetOf, parseAccess } from "./access.ts";
import type { Parsed } from "./parsed.ts";
import { OPERATIONS, type OperationOf, type ResourceType } from "./resource.ts";
import type { UrlParser } from "./target/host.ts";
import { whatwgUrl } from "./whatwg-url.ts";

/** The access of one pair and no other. */
export interface AccessOf<R extends ResourceType, O extends OperationOf<R>> {
  readonly resourceType: R;
  readonly operation: O;
  readonly target: TargetOf[R];
}

export type AccessConstructors<R extends ResourceType> = {
  readonly [O in OperationOf<R>]: (target: string) => Parsed<AccessOf<R, O>>;
};

/** The constructors of one resource type with a URL parser of the caller's own. */
export function accessConstructors<R extends ResourceType>(
  resourceType: R,
  parseUrl: UrlParser,
): AccessConstructors<R> {
  const constructors = OPERATIONS[resourceType].map((operation) => {
    const construct = (target: string) => parseAccess({ resourceType, operation, target }, parseUrl);
    return [operation, construct] as const;
  });
  return Object.freeze(Object.fromEntries(constructors)) as unknown as AccessConstructors<R>;
}

export const network: AccessConstructors<"network"> = accessConstructors("network", whatwgUrl);
/** Paths are real paths already; see `resolveFilesystemTarget`. */
export const filesystem: AccessConstructors<"filesystem"> = accessConstructors("filesystem", whatwgUrl);
export const systemDependency: AccessConstructors<"system_dependency"> = accessConstructors(
  "system_dependency",
  whatwgUrl,
);
