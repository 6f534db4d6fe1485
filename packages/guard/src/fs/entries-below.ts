/**
 * What lies below a folder, for calls that touch all of it. Bounded: every entry has to be asked about.
 */
import { append, bare, freeze } from "../captured.ts";
import { isImpossible } from "./impossible-place.ts";
import { nativeFs } from "./native-fs.ts";

const { lstatSync, readdirSync } = nativeFs;
const ENTRIES_MAX = 10_000;
const FORMAT = 0o170000;
const FOLDER = 0o040000;
const QUIET = freeze(bare({ throwIfNoEntry: false }));

export interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
}

export function isFolder(path: string): boolean {
  try {
    const stat = lstatSync(path, QUIET);
    // WHY: not `isDirectory`, which foreign code can replace.
    return stat !== undefined && (stat.mode & FORMAT) === FOLDER;
  } catch (error) {
    if (isImpossible(error)) return false;
    throw error;
  }
}

/** Folders before what they hold; none for anything that is no folder. Links are not followed. */
export function entriesBelow(path: string): readonly Entry[] {
  const entries: Entry[] = [];
  if (isFolder(path)) walk(path, path, entries);
  return entries;
}

export function foldersBelow(path: string): readonly string[] {
  const folders: string[] = [];
  const entries = entriesBelow(path);
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as Entry;
    if (entry.isFolder) append(folders, entry.path);
  }
  return folders;
}

function walk(folder: string, root: string, entries: Entry[]): void {
  const names = readdirSync(folder);
  for (let index = 0; index < names.length; index++) {
    const path = `${folder === "/" ? "" : folder}/${names[index] as string}`;
    const entry = freeze(bare({ path, isFolder: isFolder(path) }));
    append(entries, entry);
    if (entries.length > ENTRIES_MAX)
      throw new RangeError(`\`${root}\` holds more than ${ENTRIES_MAX} entries: take its parts one by one`);
    if (entry.isFolder) walk(path, root, entries);
  }
}
