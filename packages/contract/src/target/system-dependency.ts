/**
 * System dependencies: the bare name of a program that the host finds on its PATH. A path is not a name.
 */
import { type Parsed, fault, ok } from "../parsed.ts";
import type { TargetText } from "./target-text.ts";

export const DEPENDENCY_NAME_LENGTH_MAX = 128;

/**
 * The system directories: what lies in one of them has a name beside its path, and is looked for in this order.
 * WHY fixed: `PATH` can be changed by whoever is asked about.
 */
export const SYSTEM_FOLDERS: readonly string[] = Object.freeze([
  "/usr/local/sbin",
  "/usr/local/bin",
  "/usr/sbin",
  "/usr/bin",
  "/sbin",
  "/bin",
]);

const NAME = /^[a-z0-9][a-z0-9+._-]*$/;

export interface SystemDependencyTarget {
  readonly resourceType: "system_dependency";
  readonly form: "name";
  readonly requested: string;
  readonly text: TargetText<"system_dependency">;
}

export function parseSystemDependencyTarget(requested: unknown): Parsed<SystemDependencyTarget> {
  if (typeof requested === "string" && requested.length <= DEPENDENCY_NAME_LENGTH_MAX && isAscii(requested)) {
    const name = requested.toLowerCase();
    if (NAME.test(name)) {
      return ok(
        Object.freeze({
          resourceType: "system_dependency",
          form: "name",
          requested,
          text: name as TargetText<"system_dependency">,
        }),
      );
    }
  }
  return fault(
    "invalid_target",
    "target",
    "system dependency target must be a program name such as `ffmpeg`: letters, digits and any of +._- (not first); for a path use filesystem execute",
  );
}

/** WHY: lower-casing folds some letters outside ASCII, such as the Kelvin sign, into it. */
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}
