/**
 * A name decides what may be done with a file, so another name could give what the old one did not. A rename may not
 * make an object readable or executable that was not, nor a hard link make it readable, executable or modifiable:
 * what passes at the new name is needed at the old one too.
 */
import { readdirSync } from "node:fs";
import type { SdkGround } from "../sdk-ground.ts";
import { type FileOperation, type Part, type Place, below, wouldPass } from "./parts.ts";

/** More than this below a folder is not moved: every entry has to be asked about. */
const ENTRIES_MAX = 10_000;

export const GAINED_BY = {
  rename: ["read", "execute"],
  link: ["read", "execute", "modify"],
} as const satisfies Readonly<Record<string, readonly FileOperation[]>>;

/** The rights that are needed at the source because of where it goes, entry by entry for a folder. */
export async function gainedRights(
  ground: SdkGround,
  operations: readonly FileOperation[],
  source: Place,
  target: Place,
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const name of ["", ...entriesBelow(source.path)]) {
    const [from, to] = name === "" ? [source, target] : [below(source, name), below(target, name)];
    for (const operation of operations)
      if (await wouldPass(ground, { operation, place: to })) parts.push({ operation, place: from });
  }
  return parts;
}

/** Every entry below a folder, relative to it, folders before what they hold; none for anything else. */
export function entriesBelow(path: string): readonly string[] {
  const names: string[] = [];
  const walk = (folder: string, prefix: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const name = `${prefix}${entry.name}`;
      if (names.push(name) > ENTRIES_MAX)
        throw new RangeError(`\`${path}\` holds more than ${ENTRIES_MAX} entries: take its parts one by one`);
      if (entry.isDirectory()) walk(`${folder}/${entry.name}`, `${name}/`);
    }
  };
  try {
    walk(path, "");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTDIR" && code !== "ENOENT") throw error;
  }
  return names;
}
