/**
 * Filesystem targets. The lexical part only: links are resolved by an injected port before a check,
 * so a target is an absolute path in which nothing is left to walk.
 */
import { type Fault, type Parsed, fault, ok } from "../parsed.ts";
import type { TargetText } from "./target-text.ts";

export const FILESYSTEM_TARGET_BYTES_MAX = 16384;

export interface FilesystemTarget {
  readonly resourceType: "filesystem";
  readonly form: "path";
  readonly requested: string;
  readonly text: TargetText<"filesystem">;
}

/**
 * Real path of the longest existing prefix as the kernel would walk it, the missing rest appended;
 * `undefined` where the walk cannot be made (loop, no permission, `..` behind a missing folder).
 */
export type RealPathPort = (absolutePath: string, lastLink: "follow" | "keep") => string | undefined;

export interface PathResolution {
  readonly realPath: RealPathPort;
  /** Absolute folder that a relative path starts from. */
  readonly cwd: string;
  readonly lastLink: "follow" | "keep";
}

/** A path whose links are resolved already: the form that decisions are made on. */
export function parseFilesystemTarget(requested: unknown): Parsed<FilesystemTarget> {
  if (typeof requested !== "string") return bad("must be text");
  const path = canonicalFilesystemPath(requested);
  if (path === undefined) return bad("must be an absolute path without `..` and NUL");
  return target(requested, path);
}

/** A path as a program wrote it, walked through its links. Keeps the written form beside the real one. */
export function resolveFilesystemTarget(
  requested: unknown,
  resolution: PathResolution,
): Parsed<FilesystemTarget> {
  if (typeof requested !== "string") return bad("must be text");
  if (requested === "") return bad("must not be empty");
  if (!isEncodablePath(requested)) return bad("must be valid text without NUL");
  const absolute = requested.startsWith("/") ? requested : `${resolution.cwd}/${requested}`;
  const real = resolution.realPath(absolute, resolution.lastLink);
  if (real === undefined)
    return bad("cannot be walked: a link loops, or `..` follows a folder that does not exist");
  const path = canonicalFilesystemPath(real);
  if (path === undefined || path !== real) return bad("does not lead to an absolute path");
  return target(requested, path);
}

/**
 * Drops `.` segments and doubled or trailing slashes. `undefined` for relative paths, for `..`
 * (only a walk through the links can say where it leads), for NUL and for text the kernel cannot be given.
 */
export function canonicalFilesystemPath(path: string): string | undefined {
  if (!path.startsWith("/") || !isEncodablePath(path)) return undefined;
  if (isCanonical(path)) return path;
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") return undefined;
    segments.push(segment);
  }
  return `/${segments.join("/")}`;
}

function target(requested: string, path: string): Parsed<FilesystemTarget> {
  return ok(
    Object.freeze({
      resourceType: "filesystem",
      form: "path",
      requested,
      text: path as TargetText<"filesystem">,
    }),
  );
}

/** One scan, no allocation: the common case of a path that is already canonical. */
function isCanonical(path: string): boolean {
  if (path.length === 1) return true;
  let segmentStart = 1;
  for (let index = 1; index <= path.length; index++) {
    if (index < path.length && path.charCodeAt(index) !== SLASH) continue;
    const length = index - segmentStart;
    if (length === 0) return false;
    if (
      path.charCodeAt(segmentStart) === DOT &&
      (length === 1 || (length === 2 && path.charCodeAt(segmentStart + 1) === DOT))
    ) {
      return false;
    }
    segmentStart = index + 1;
  }
  return true;
}

const SLASH = 0x2f;
const DOT = 0x2e;

/** No NUL, no lone surrogate (the kernel would be given another name), not longer than a walk may be. */
function isEncodablePath(path: string): boolean {
  if (path.length > FILESYSTEM_TARGET_BYTES_MAX) return false;
  for (let index = 0; index < path.length; index++) {
    const code = path.charCodeAt(index);
    if (code === 0) return false;
    if (code < 0xd800 || code >= 0xe000) continue;
    const next = path.charCodeAt(index + 1);
    if (code >= 0xdc00 || !(next >= 0xdc00 && next < 0xe000)) return false;
    index++;
  }
  return true;
}

function bad(reason: string): Fault {
  return fault("invalid_target", "target", `filesystem target ${reason}`);
}
