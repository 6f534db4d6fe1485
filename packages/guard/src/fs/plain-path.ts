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

/** An absolute path that was found plain last; that depends on nothing but the text. */
let last = "";

/** `undefined` for what has to be walked, and for `/proc`, whose links lead elsewhere than they say. */
export function plainPath(input: unknown): string | undefined {
  if (input === last && last !== "") return last;
  if (typeof input !== "string" || pathText(input) === undefined) return undefined;
  const isAbsolute = charCodeAt(input, 0) === SLASH;
  const path = isAbsolute ? input : `${workingFolder()}/${input}`;
  if (exec(ODD, path) !== null || beginsWith(path, "/proc/")) return undefined;
  if (isAbsolute) last = path;
  return path;
}
