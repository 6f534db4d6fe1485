/**
 * Operations on what a file is rather than on what it holds: its mode, owner, times and length. Each is a modify of the
 * file that the path leads to, done at the real path that was checked; a link that took its place meanwhile is not
 * followed where the system allows that.
 */
import { constants } from "node:fs";
import * as files from "node:fs/promises";
import type { SdkGround } from "../sdk-ground.ts";
import { type PathInput, placeOf, requireParts } from "./parts.ts";

export interface SdkFileMetadata {
  chmod(path: PathInput, mode: number): Promise<void>;
  chown(path: PathInput, uid: number, gid: number): Promise<void>;
  utimes(path: PathInput, accessed: number | Date, modified: number | Date): Promise<void>;
  truncate(path: PathInput, length?: number): Promise<void>;
}

const MODE_MAX = 0o7777;

export function sdkFileMetadata(ground: SdkGround): SdkFileMetadata {
  const modified = async (path: PathInput): Promise<string> => {
    const place = await placeOf(ground, path, "follow");
    await requireParts(ground, [{ operation: "modify", place }]);
    return place.path;
  };
  return {
    chmod: async (path, mode) => {
      if (!Number.isInteger(mode) || mode < 0 || mode > MODE_MAX)
        throw new TypeError("a mode must be a number from 0 to 0o7777");
      const real = await modified(path);
      // WHY: this system changes no mode through a link itself; what became a link since the check is refused.
      if ((await files.lstat(real)).isSymbolicLink())
        throw Object.assign(new Error(`\`${real}\` became a link`), { code: "ELOOP" });
      await files.chmod(real, mode);
    },
    chown: async (path, uid, gid) => files.lchown(await modified(path), uid, gid),
    utimes: async (path, accessed, changed) => files.lutimes(await modified(path), accessed, changed),
    truncate: async (path, length = 0) => {
      const handle = await files.open(await modified(path), constants.O_WRONLY | constants.O_NOFOLLOW);
      try {
        await handle.truncate(length);
      } finally {
        await handle.close();
      }
    },
  };
}
