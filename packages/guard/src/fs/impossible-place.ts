/**
 * Paths that name nothing whatever happens next to them: below a file, or with a name that is too long. They are decided
 * on like what does not exist yet, and then Node says of them what it always says. Touches nothing.
 */
import { realPath } from "@sallyport/gate";
import { charCodeAt, errorCode, slice } from "../captured.ts";
import { nativeFs } from "./native-fs.ts";

const { lstatSync } = nativeFs;
const SLASH = 0x2f;
/** WHY: each name is walked once more; the kernel takes no more than 4096 bytes anyway. */
const LENGTH_MAX = 16_384;

/** @param absolute a path that could not be walked. `undefined`: for another reason, and there is nothing to decide on */
export function impossiblePlace(absolute: string): string | undefined {
  if (absolute.length > LENGTH_MAX) return undefined;
  let head = absolute;
  let rest = "";
  while (head !== "") {
    let at = head.length - 1;
    while (at > 0 && charCodeAt(head, at) !== SLASH) at--;
    const name = slice(head, at + 1);
    // INVARIANT: nothing is left out or gone back on: where `..` leads only a walk can say.
    if (name === "" || name === "." || name === "..") return undefined;
    rest = `/${name}${rest}`;
    head = slice(head, 0, at);
    const real = realPath(head === "" ? "/" : head, "follow");
    if (real !== undefined) return ifImpossible(real === "/" ? rest : real + rest);
  }
  return undefined;
}

function ifImpossible(path: string): string | undefined {
  try {
    lstatSync(path);
  } catch (error) {
    if (isImpossible(error)) return path;
  }
  return undefined;
}

/** What the kernel says of such a path. */
export function isImpossible(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOTDIR" || code === "ENAMETOOLONG";
}
