/**
 * Operations that only look: each is a read of the path, of the link itself where the last link is not followed. That
 * something does not exist is told only to whoever may read there.
 */
import { constants } from "node:fs";
import * as files from "node:fs/promises";
import type { SdkGround } from "../sdk-ground.ts";
import { type FileChange, changesOf } from "./file-changes.ts";
import { type PathInput, type Place, placeOf, requireParts } from "./parts.ts";

export interface SdkFileLooks {
  exists(path: PathInput): Promise<boolean>;
  /** Rejects where the process may not; `fs.constants` of Node for the mode. */
  access(path: PathInput, mode?: number): Promise<void>;
  readlink(path: PathInput): Promise<string>;
  realpath(path: PathInput): Promise<string>;
  /** Of one file, or of the entries of one folder, until the signal stops it. */
  watch(path: PathInput, options?: { readonly signal?: AbortSignal }): AsyncIterable<FileChange>;
}

export function sdkFileLooks(ground: SdkGround): SdkFileLooks {
  const read = async (path: PathInput, ending: "follow" | "keep"): Promise<Place> => {
    const place = await placeOf(ground, path, ending);
    await requireParts(ground, [{ operation: "read", place }]);
    return place;
  };
  return {
    exists: async (path) => (await read(path, "follow")).exists,
    access: async (path, mode = constants.F_OK) => files.access((await read(path, "follow")).path, mode),
    readlink: async (path) => files.readlink((await read(path, "keep")).path),
    realpath: async (path) => files.realpath((await read(path, "follow")).path),
    watch: (path, options = {}) => {
      // INVARIANT: asked as whoever calls this, not as whoever looks at the changes later.
      const place = read(path, "follow");
      place.catch(() => undefined);
      return changes(place, options.signal);
    },
  };
}

async function* changes(place: Promise<Place>, signal: AbortSignal | undefined) {
  yield* changesOf((await place).path, signal);
}
