/**
 * `sdk.fs` in a process whose guard decides what Node does with files: the calls of Node themselves, each decided part by
 * part where it is made. What is blocked waits where a person can be asked, as every asynchronous call there does.
 */
import type { PathLike } from "node:fs";
import * as files from "node:fs/promises";
import { guardedCall } from "../guarded-call.ts";
import { changesOf } from "./file-changes.ts";
import type { SdkFileLooks } from "./file-looks.ts";
import type { SdkFileMetadata } from "./file-metadata.ts";
import type { SdkFs } from "./fs.ts";
import { requireFlag } from "./open-flags.ts";
import type { PathInput } from "./parts.ts";
import { sdkFile } from "./sdk-file.ts";

/** Node takes no bytes but its own for a path. */
function at(path: PathInput): PathLike {
  return path instanceof Uint8Array ? Buffer.from(path) : path;
}

const readFile = (path: PathInput, encoding?: BufferEncoding) =>
  guardedCall(() => files.readFile(at(path), encoding));

export function guardedFs(): SdkFs {
  return Object.freeze<SdkFs>({
    ...guardedLooks(),
    ...guardedMetadata(),
    readFile: readFile as SdkFs["readFile"],
    writeFile: (path, data, { flag = "w", mode } = {}) =>
      guardedCall(() => files.writeFile(at(path), data, { flag, mode })),
    appendFile: (path, data) => guardedCall(() => files.appendFile(at(path), data)),
    stat: (path) => guardedCall(() => files.stat(at(path))),
    lstat: (path) => guardedCall(() => files.lstat(at(path))),
    readdir: (path) => guardedCall(() => files.readdir(at(path), { withFileTypes: true })),
    mkdir: (path, { recursive = false } = {}) =>
      guardedCall(async () => void (await files.mkdir(at(path), { recursive }))),
    mkdtemp: (prefix) => guardedCall(() => files.mkdtemp(prefix)),
    rmdir: (path) => guardedCall(() => files.rmdir(at(path))),
    rm: (path, { recursive = false, force = false } = {}) =>
      guardedCall(() => files.rm(at(path), { recursive, force })),
    unlink: (path) => guardedCall(() => files.unlink(at(path))),
    rename: (from, to) => guardedCall(() => files.rename(at(from), at(to))),
    copyFile: (from, to) => guardedCall(() => files.copyFile(at(from), at(to))),
    link: (existing, path) => guardedCall(() => files.link(at(existing), at(path))),
    symlink: (target, path) => guardedCall(() => files.symlink(target, at(path))),
    open: (path, flag = "r", mode) =>
      guardedCall(async () => sdkFile(await files.open(at(path), requireFlag(flag), mode))),
  });
}

function guardedLooks(): SdkFileLooks {
  return {
    exists: (path) =>
      guardedCall(async () => {
        try {
          await files.stat(at(path));
          return true;
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException;
          if (code === "ENOENT" || code === "ENOTDIR") return false;
          throw error;
        }
      }),
    access: (path, mode) => guardedCall(() => files.access(at(path), mode)),
    readlink: (path) => guardedCall(() => files.readlink(at(path))),
    realpath: (path) => guardedCall(() => files.realpath(at(path))),
    watch: (path, { signal } = {}) => changesOf(at(path), signal),
  };
}

function guardedMetadata(): SdkFileMetadata {
  return {
    chmod: (path, mode) => guardedCall(() => files.chmod(at(path), mode)),
    chown: (path, uid, gid) => guardedCall(() => files.chown(at(path), uid, gid)),
    utimes: (path, accessed, modified) => guardedCall(() => files.utimes(at(path), accessed, modified)),
    truncate: (path, length) => guardedCall(() => files.truncate(at(path), length)),
  };
}
