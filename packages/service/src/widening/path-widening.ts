/** Widths of a file path: the folder it lies in, and the folders above, up to a bound. */
import type { Candidate } from "./suggestion.ts";

export interface PathFacts {
  /** The target itself is a folder. */
  readonly isFolder: boolean;
  /** Home folders that the host knows, absolute and without a trailing slash. */
  readonly homes: readonly string[];
}

/** Folders that are offered, the deepest first. */
const FOLDERS_MAX = 6;

/** Folders of the system below the first level; of the first level all are. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set([
  "/etc/ssh",
  "/etc/ssl",
  "/run/user",
  "/usr/bin",
  "/usr/lib",
  "/usr/lib64",
  "/usr/libexec",
  "/usr/local",
  "/usr/local/bin",
  "/usr/local/lib",
  "/usr/sbin",
  "/usr/share",
  "/var/cache",
  "/var/lib",
  "/var/log",
  "/var/run",
  "/var/tmp",
]);

/** Folders whose every entry is somebody's home. */
const HOMES_OF_ALL: ReadonlySet<string> = new Set(["/home", "/Users", "/var/home"]);

export function pathCandidates(path: string, { isFolder, homes }: PathFacts): readonly Candidate[] {
  const exact: Candidate = {
    target: path,
    match: "exact",
    label: isFolder ? "only this folder itself, nothing in it" : "only this path",
    wide: false,
    examples: [below(path, "more"), `${path}-other`, parentOf(path)],
  };
  const folders = (isFolder && path !== "/" ? [path] : []).concat(foldersAbove(path)).slice(0, FOLDERS_MAX);
  return [
    exact,
    ...folders.map((folder): Candidate => ({
      target: folder,
      match: "directory",
      label: `the folder \`${folder}\` and everything below it`,
      wide: isWideFolder(folder, homes),
      examples: [folder, below(folder, "example"), below(folder, "a/b"), `${folder}-other`, parentOf(folder)],
    })),
  ];
}

/** A folder of the first level, a folder of the system, a home, or a folder that homes lie in. */
function isWideFolder(folder: string, homes: readonly string[]): boolean {
  const isTop = folder.lastIndexOf("/") === 0;
  return (
    isTop ||
    SYSTEM_FOLDERS.has(folder) ||
    HOMES_OF_ALL.has(folder) ||
    HOMES_OF_ALL.has(parentOf(folder)) ||
    homes.some((home) => home === folder || home.startsWith(`${folder}/`))
  );
}

/** INVARIANT: the root is never among them. */
function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
    folders.push(path.slice(0, end));
  return folders;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

function below(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}
