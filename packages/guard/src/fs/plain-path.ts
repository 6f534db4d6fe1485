/**
 * Paths that are written the way the kernel would name them: absolute, no empty name, no `.` and no `..`, no closing slash.
 * Whether such a path is real is not said here: a folder in it may be a link. Everything else is walked.
 */
import { pathText } from "@sallyport/gate";
import { beginsWith, charCodeAt, freeze, uncurryThis, workingFolder } from "../captured.ts";

const SLASH = 0x2f;
// oxlint-disable-next-line typescript/unbound-method -- called through a bound `call`
const exec = uncurryThis(RegExp.prototype.exec);
const ODD = freeze(/\/\.{0,2}(?:\/|$)/);

/** `undefined` for what has to be walked, and for `/proc`, whose links lead elsewhere than they say. */
export function plainPath(input: unknown): string | undefined {
  if (typeof input !== "string" || pathText(input) === undefined) return undefined;
  const path = charCodeAt(input, 0) === SLASH ? input : `${workingFolder()}/${input}`;
  return exec(ODD, path) !== null || beginsWith(path, "/proc/") ? undefined : path;
}
