/**
 * `sdk.fs`: file operations that ask before they act, composite ones part by part. Throws `ExternalAccessError` with
 * every blocked part, `AccessPendingError` where all of them wait for a person; else what Node throws.
 * Arguments are read once; what is touched is the real path that was checked.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import type { Dirent, Stats } from "node:fs";
import * as files from "node:fs/promises";
import type { SdkGround } from "../sdk-ground.ts";
import { type SdkFileLooks, sdkFileLooks } from "./file-looks.ts";
import { type SdkFileMetadata, sdkFileMetadata } from "./file-metadata.ts";
import { GAINED_BY, entriesBelow, gainedRights } from "./gained-rights.ts";
import { type OpenFlag, openingOf } from "./open-flags.ts";
import {
  type Part,
  type PathInput,
  type Place,
  below,
  createOrModify,
  placeOf,
  requireParts,
} from "./parts.ts";
import { type SdkFile, sdkFile } from "./sdk-file.ts";

export interface WriteOptions {
  /** `wx`: the file must not exist. */
  readonly flag?: "w" | "wx" | undefined;
  readonly mode?: number | undefined;
}

export interface SdkFs extends SdkFileLooks, SdkFileMetadata {
  readFile(path: PathInput): Promise<Buffer>;
  readFile(path: PathInput, encoding: BufferEncoding): Promise<string>;
  writeFile(path: PathInput, data: Uint8Array | string, options?: WriteOptions): Promise<void>;
  appendFile(path: PathInput, data: Uint8Array | string): Promise<void>;
  stat(path: PathInput): Promise<Stats>;
  /** Of a link itself. */
  lstat(path: PathInput): Promise<Stats>;
  readdir(path: PathInput): Promise<readonly Dirent[]>;
  mkdir(path: PathInput, options?: { readonly recursive?: boolean }): Promise<void>;
  /** A new folder whose name begins so, for its owner alone. Resolves with its path. */
  mkdtemp(prefix: string): Promise<string>;
  rmdir(path: PathInput): Promise<void>;
  /** Asks for the root and for every entry below it. */
  rm(path: PathInput, options?: { readonly recursive?: boolean; readonly force?: boolean }): Promise<void>;
  unlink(path: PathInput): Promise<void>;
  rename(from: PathInput, to: PathInput): Promise<void>;
  copyFile(from: PathInput, to: PathInput): Promise<void>;
  link(existing: PathInput, path: PathInput): Promise<void>;
  /** `target` is kept as written; whoever uses the link is asked about where it leads. */
  symlink(target: string, path: PathInput): Promise<void>;
  open(path: PathInput, flag?: OpenFlag, mode?: number): Promise<SdkFile>;
}

const OWNER_FOLDER = 0o700;

export function sdkFs(ground: SdkGround): SdkFs {
  const opened = async (path: PathInput, flag: OpenFlag, mode?: number): Promise<files.FileHandle> => {
    const place = await placeOf(ground, path, "follow");
    const { parts, bits } = openingOf(flag, place);
    await requireParts(ground, parts);
    return files.open(place.path, bits, mode);
  };
  const asked = async (operation: Part["operation"], path: PathInput, ending: "follow" | "keep") => {
    const place = await placeOf(ground, path, ending);
    await requireParts(ground, [{ operation, place }]);
    return place.path;
  };
  const readFile = (path: PathInput, encoding?: BufferEncoding) =>
    withFile(opened(path, "r"), (handle) => handle.readFile(encoding));
  return Object.freeze<SdkFs>({
    ...sdkFileLooks(ground),
    ...sdkFileMetadata(ground),
    readFile: readFile as SdkFs["readFile"],
    writeFile: (path, data, { flag = "w", mode } = {}) =>
      withFile(opened(path, flag, mode), (handle) => handle.writeFile(data)),
    appendFile: (path, data) => withFile(opened(path, "a"), (handle) => handle.writeFile(data)),
    stat: async (path) => files.lstat(await asked("read", path, "follow")),
    lstat: async (path) => files.lstat(await asked("read", path, "keep")),
    readdir: async (path) => files.readdir(await asked("read", path, "follow"), { withFileTypes: true }),
    mkdir: (path, { recursive = false } = {}) => makeFolder(ground, path, recursive),
    mkdtemp: async (prefix) => {
      const path = await asked("create", `${prefix}${randomBytes(6).toString("hex")}`, "keep");
      await files.mkdir(path, OWNER_FOLDER);
      return path;
    },
    rmdir: async (path) => files.rmdir(await asked("delete", path, "keep")),
    rm: (path, { recursive = false, force = false } = {}) => remove(ground, path, { recursive, force }),
    unlink: async (path) => files.unlink(await asked("delete", path, "keep")),
    rename: async (from, to) => {
      const [source, target] = [await placeOf(ground, from, "keep"), await placeOf(ground, to, "keep")];
      const gained = await gainedRights(ground, GAINED_BY.rename, source, target);
      const parts: readonly Part[] = [{ operation: "delete", place: source }, createOrModify(target)];
      await requireParts(ground, [...parts, ...gained]);
      await files.rename(source.path, target.path);
    },
    copyFile: async (from, to) => {
      const [source, target] = [await placeOf(ground, from, "follow"), await placeOf(ground, to, "follow")];
      await requireParts(ground, [{ operation: "read", place: source }, createOrModify(target)]);
      await files.copyFile(source.path, target.path, target.exists ? 0 : constants.COPYFILE_EXCL);
    },
    link: async (existing, path) => {
      const [source, target] = [await placeOf(ground, existing, "keep"), await placeOf(ground, path, "keep")];
      const gained = await gainedRights(ground, GAINED_BY.link, source, target);
      const needed = gained.filter(({ operation }) => operation !== "read");
      const read: Part = { operation: "read", place: source };
      await requireParts(ground, [read, { operation: "create", place: target }, ...needed]);
      await files.link(source.path, target.path);
    },
    symlink: async (target, path) => files.symlink(target, await asked("create", path, "keep")),
    open: async (path, flag = "r", mode) => sdkFile(await opened(path, flag, mode)),
  });
}

async function withFile<R>(
  opening: Promise<files.FileHandle>,
  use: (handle: files.FileHandle) => Promise<R>,
): Promise<R> {
  const handle = await opening;
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** Every folder that does not exist yet is made, and asked for, by itself. */
async function makeFolder(ground: SdkGround, path: PathInput, recursive: boolean): Promise<void> {
  const place = await placeOf(ground, path, "follow");
  const missing = recursive ? [...(await missingAbove(ground, place.path)), place] : [place];
  await requireParts(
    ground,
    missing.map((folder) => ({ operation: "create", place: folder })),
  );
  for (const folder of missing) if (!(recursive && folder.exists)) await files.mkdir(folder.path);
}

/** From the outermost in. */
async function missingAbove(ground: SdkGround, path: string): Promise<readonly Place[]> {
  const above = parentOf(path);
  const parent = await placeOf(ground, above, "follow");
  return parent.exists ? [] : [...(await missingAbove(ground, above)), parent];
}

/** What is removed is what was asked for: an entry that came later is left, and its folder with it. */
async function remove(
  ground: SdkGround,
  path: PathInput,
  { recursive, force }: { readonly recursive: boolean; readonly force: boolean },
): Promise<void> {
  const root = await placeOf(ground, path, "keep");
  const isFolder = root.exists && (await files.lstat(root.path)).isDirectory();
  const names = recursive && isFolder ? entriesBelow(root.path) : [];
  const places = [root, ...names.map((name) => below(root, name))];
  await requireParts(
    ground,
    places.map((place) => ({ operation: "delete", place })),
  );
  if (!root.exists && force) return;
  for (const { path: one } of places.toReversed()) {
    const stat = await files.lstat(one);
    if (stat.isDirectory() && recursive) await files.rmdir(one);
    else await files.unlink(one);
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
