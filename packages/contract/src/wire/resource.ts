/**
 * Resources and access rules as they travel. Both are unions over the table of operations, so that a pair which
 * does not belong together is refused by the schema, by its JSON Schema and by the compiler alike.
 * A network target is only bounded here: `accessOfResource` reads it with the URL parser and must be used before a check.
 */
import { z } from "zod";
import { type Access, parseAccess } from "../access.ts";
import { type Parsed, fault } from "../parsed.ts";
import { OPERATIONS } from "../resource.ts";
import { FILESYSTEM_TARGET_BYTES_MAX, canonicalFilesystemPath } from "../target/filesystem.ts";
import { type UrlParser, hasControl } from "../target/host.ts";
import { NETWORK_TARGET_BYTES_MAX } from "../target/network.ts";
import { DEPENDENCY_NAME_LENGTH_MAX, parseSystemDependencyTarget } from "../target/system-dependency.ts";
import { type WireType, defineWire } from "./define-wire.ts";

const networkTarget = z
  .string()
  .min(1)
  .max(NETWORK_TARGET_BYTES_MAX)
  .refine((text) => !hasControl(text), { error: "must not contain control characters" });

const filesystemTarget = z
  .string()
  .min(1)
  .max(FILESYSTEM_TARGET_BYTES_MAX)
  .startsWith("/", { error: "must be an absolute path" })
  .refine((text) => canonicalFilesystemPath(text) === text, {
    error: "must be a normalized path: absolute, without `.`, `..`, doubled or trailing slashes",
  });

const dependencyTarget = z
  .string()
  .min(1)
  .max(DEPENDENCY_NAME_LENGTH_MAX)
  .refine((text) => isDependencyName(text), { error: "must be a lower-case program name such as `ffmpeg`" });

function isDependencyName(text: string): boolean {
  const parsed = parseSystemDependencyTarget(text);
  return parsed.ok && parsed.value.text === text;
}

/** A normalized resource: what was asked for, or is approved or denied. */
export const resourceSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("network"),
    operation: z.enum(OPERATIONS.network),
    target: networkTarget,
  }),
  z.strictObject({
    type: z.literal("filesystem"),
    operation: z.enum(OPERATIONS.filesystem),
    target: filesystemTarget,
  }),
  z.strictObject({
    type: z.literal("system_dependency"),
    operation: z.enum(OPERATIONS.system_dependency),
    target: dependencyTarget,
  }),
]);
export const resourceWire = defineWire(resourceSchema);
export type Resource = WireType<typeof resourceWire>;

export function resourceOf(access: Access): Resource {
  const { resourceType, operation, target } = access;
  return Object.freeze({ type: resourceType, operation, target: target.text }) as Resource;
}

/** Reads the target again. What is not in normalized form is refused: it would be another identity. */
export function accessOfResource(resource: Resource, parseUrl: UrlParser): Parsed<Access> {
  const { type: resourceType, operation, target } = resource;
  const parsed = parseAccess({ resourceType, operation, target }, parseUrl);
  if (parsed.ok && parsed.value.target.text !== target) {
    return fault(
      "invalid_target",
      "target",
      "target is not in normalized form: send the text that a check returned",
    );
  }
  return parsed;
}

/** What somebody asked for in their own words, kept beside the normalized form; may be nonsense. */
export const requestedResourceSchema = z.strictObject({
  type: z.string().max(64),
  operation: z.string().max(64),
  target: z.string().max(FILESYSTEM_TARGET_BYTES_MAX),
});
export const requestedResourceWire = defineWire(requestedResourceSchema);
export type RequestedResource = WireType<typeof requestedResourceWire>;

const declaredTarget = (charactersMax: number) => z.string().min(1).max(charactersMax);

/** The three members of an access rule, each with the further keys of a rule that builds on it. */
export function accessRuleMembers<Shape extends z.ZodRawShape>(shape: Shape) {
  return [
    z.strictObject({
      ...shape,
      resource_type: z.literal("network"),
      operation: z.enum(OPERATIONS.network),
      target: declaredTarget(NETWORK_TARGET_BYTES_MAX),
    }),
    z.strictObject({
      ...shape,
      resource_type: z.literal("filesystem"),
      operation: z.enum(OPERATIONS.filesystem),
      target: declaredTarget(FILESYSTEM_TARGET_BYTES_MAX),
    }),
    z.strictObject({
      ...shape,
      resource_type: z.literal("system_dependency"),
      operation: z.enum(OPERATIONS.system_dependency),
      target: declaredTarget(DEPENDENCY_NAME_LENGTH_MAX),
    }),
  ] as const;
}

/** A declared rule: the target is spelled as in a manifest, and its spelling says how wide it is. */
export const accessRuleSchema = z.discriminatedUnion("resource_type", accessRuleMembers({}));
export const accessRuleWire = defineWire(accessRuleSchema);
export type WireAccessRule = WireType<typeof accessRuleWire>;
