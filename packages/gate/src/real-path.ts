/**
 * Where a path leads, walked as the kernel walks it: links followed one by one, `..` taken from where the link led.
 * Trusts the kernel and what Node's functions returned; an error is trusted only while nobody can have changed it.
 * What it returns was true at that moment: whoever opens the path checks the descriptor again.
 */
import fs from "node:fs";
import type { RealPathPort } from "@sallyport/contract";
import { charCodeAt, errorCode, indexOfCode, isPolluted, slice } from "./captured.ts";

// WHY: copies, since the guard and foreign code replace the exports of `node:fs` later.
const { readlinkSync, statSync, statfsSync } = fs;
const realpathNative = fs.realpathSync.native;

/** As in Linux: a walk follows at most this many links. */
const LINKS_MAX = 40;
/** The kernel refuses longer texts, the closing NUL included. */
const PATH_BYTES_MAX = 4095;
const PROC_SUPER_MAGIC = 0x9fa0;
const SLASH = 0x2f;

/** Names still to be walked. A list of its own, since indexes of arrays can be intercepted. */
interface Rest {
  readonly name: string;
  readonly next: Rest | undefined;
}

type Look =
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "plain" | "missing" | "unknown"; readonly target: undefined };

export const realPath: RealPathPort = (absolutePath, lastLink) => {
  try {
    // WHY: with `href` on a prototype, Node's functions take a text for a URL.
    if (isPolluted("href") || charCodeAt(absolutePath, 0) !== SLASH || isTooLong(absolutePath))
      return undefined;
    const isKept = lastLink === "keep";
    const known = isKept ? undefined : existing(absolutePath);
    // WHY: where nothing changed, no link was followed and there is nothing to walk.
    if (known === absolutePath) return known;
    return walk(absolutePath, isKept);
  } catch {
    return undefined;
  }
};

function walk(path: string, isKept: boolean): string | undefined {
  const parent = parentOf(path);
  // WHY: mostly only the last name is new or a link; a parent that is real needs no walk of its own.
  const start = parent !== "" && existing(parent) === parent ? parent : "";
  let resolved = start;
  let rest = split(slice(path, start.length), undefined);
  let links = 0;
  let isMissing = false;
  while (rest !== undefined) {
    const { name, next }: Rest = rest;
    rest = next;
    if (name === "." || name === "..") {
      // INVARIANT: nobody knows where `..` behind a missing folder will lead once the folder exists.
      if (isMissing && name === "..") return undefined;
      if (!isMissing && !isFolder(resolved)) return undefined;
      if (name === "..") resolved = parentOf(resolved);
      continue;
    }
    const child = `${resolved}/${name}`;
    if (isMissing) {
      resolved = child;
      continue;
    }
    const look = lookAt(child);
    if (look.kind === "unknown") return undefined;
    if (look.kind !== "link" || (isKept && next === undefined)) {
      isMissing = look.kind === "missing";
      resolved = child;
      continue;
    }
    if (++links > LINKS_MAX || look.target === "" || !leadsWhereItSays(resolved, child, look.target))
      return undefined;
    if (charCodeAt(look.target, 0) === SLASH) resolved = "";
    rest = split(look.target, next);
  }
  return resolved === "" ? "/" : resolved;
}

/** What a name is, told by reading it as a link. */
function lookAt(path: string): Look {
  try {
    return { kind: "link", target: readlinkSync(path) };
  } catch (error) {
    const code = errorCode(error);
    const kind = code === "EINVAL" ? "plain" : code === "ENOENT" ? "missing" : "unknown";
    return { kind, target: undefined };
  }
}

function isFolder(path: string): boolean {
  return lookAt(`${path}/.`).kind === "plain";
}

/** The real path where all of it exists, else `undefined`. */
function existing(path: string): string | undefined {
  try {
    return realpathNative(path);
  } catch {
    return undefined;
  }
}

/**
 * Links of /proc lead to a file, whatever their text says: into another mount namespace, to a deleted file.
 * INVARIANT: such a link counts only where its text names the very same file.
 */
function leadsWhereItSays(folder: string, link: string, target: string): boolean {
  if (isPolluted("type") || isPolluted("dev") || isPolluted("ino")) return false;
  if (statfsSync(folder === "" ? "/" : folder).type !== PROC_SUPER_MAGIC) return true;
  const led = statSync(link, { bigint: true });
  const said = statSync(charCodeAt(target, 0) === SLASH ? target : `${folder}/${target}`, { bigint: true });
  return led.dev === said.dev && led.ino === said.ino;
}

/** Puts the names of a path before those still to be walked. A closing slash asks for a folder, as `.` does. */
function split(path: string, behind: Rest | undefined): Rest | undefined {
  let rest = behind;
  let end = path.length;
  if (end > 0 && charCodeAt(path, end - 1) === SLASH) rest = { name: ".", next: rest };
  for (let index = end - 1; index >= -1; index--) {
    if (index >= 0 && charCodeAt(path, index) !== SLASH) continue;
    if (end > index + 1) rest = { name: slice(path, index + 1, end), next: rest };
    end = index;
  }
  return rest;
}

/** The text before the last slash; empty for a name in the root. */
function parentOf(path: string): string {
  let last = 0;
  for (let at = indexOfCode(path, SLASH, 0); at >= 0; at = indexOfCode(path, SLASH, at + 1)) last = at;
  return slice(path, 0, last);
}

function isTooLong(path: string): boolean {
  if (path.length > PATH_BYTES_MAX) return true;
  let bytes = 0;
  for (let index = 0; index < path.length; index++) {
    const code = charCodeAt(path, index);
    // WHY: each half of a surrogate pair stands for two of the pair's four bytes.
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  return bytes > PATH_BYTES_MAX;
}
