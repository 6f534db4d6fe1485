/**
 * Whether a program may be started outside every sandbox: nobody but its owner and root can have written it, or can put
 * another in its place before it is started. Looks at the file and at every folder above it; trusts this user and root only.
 */
import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Writable by others, or of another user's rights: the wall is built by whoever asks for it. */
const UNTRUSTED_BITS = 0o6022;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/** What is wrong with it, `undefined` where it can be trusted. */
export function trustFault(path: string): string | undefined {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined || !facts.isFile() || !isOurs(facts.uid) || (facts.mode & UNTRUSTED_BITS) !== 0)
    return "is not a program of this user alone";
  for (let folder = realpathSync(dirname(path)); ; folder = dirname(folder)) {
    const { uid, mode } = statSync(folder);
    // WHY others may write where only owners rename: what is ours stays there, as in a shared folder of temporary files.
    if (!isOurs(uid) || ((mode & WRITABLE_BY_ALL) !== 0 && (mode & STICKY) === 0))
      return `lies in \`${folder}\`, where others can put another in its place`;
    if (folder === dirname(folder)) return undefined;
  }
}

function isOurs(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.();
}
