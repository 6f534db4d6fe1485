/**
 * Files that are loaded as code, which nobody is asked about. What stands behind their descriptor is looked at, because the
 * loader reads by functions that the program can replace.
 */
import { constants } from "node:fs";
import { type Ground, isCode } from "../ground.ts";
import type { FileHandle } from "./file-handle.ts";
import { descriptorPath } from "./held-places.ts";
import { nativeFs } from "./native-fs.ts";
import { reopened } from "./numbers-in-use.ts";
import type { OpenCall, Opener } from "./verified-open.ts";

const { closeSync, openSync } = nativeFs;
const { O_RDONLY } = constants;
const DEFAULT_MODE = 0o666;

/**
 * What is loaded as code; `undefined` where it leads elsewhere by now, and is to be decided on like any other file.
 * WHY: the loader reads by functions that the program can replace, so the program may run in between.
 */
export function openCode(ground: Ground, path: string): number | undefined {
  const fd = openSync(path, "r");
  if (isCodeBehind(ground, fd, path)) return reopened(fd);
  closeSync(fd);
  return undefined;
}

/** @param path that was found to be code, or that may be read */
function isCodeBehind(ground: Ground, fd: number, path: string): boolean {
  if (ground.isConfined) return true;
  const real = descriptorPath(fd);
  return real === path || isCode(ground, real);
}

/** What the loader of Node 20 reads as code; `decided` where it leads elsewhere by now. */
export function codeLater(
  ground: Ground,
  { input }: OpenCall,
  opener: Opener<FileHandle>,
  opened: (error: unknown, handle: FileHandle) => void,
  decided: () => void,
): void {
  opener.open(input, O_RDONLY, DEFAULT_MODE, (error, handle) => {
    if (error !== null && error !== undefined) opened(error, handle);
    else if (isCodeBehind(ground, opener.fdOf(handle), input)) {
      reopened(opener.fdOf(handle));
      opened(null, handle);
    } else {
      opener.drop(handle);
      decided();
    }
  });
}
