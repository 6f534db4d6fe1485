/**
 * The key ring on disk: readable by its owner only, replaced whole or not at all. A new ring is written beside the old
 * one, synced, renamed over it, and the folder synced: after a crash at any point one of the two is there.
 */
import { type FileHandle, constants } from "node:fs/promises";
import { type KeyRing, type KeyRingResult, formatKeyRing, parseKeyRing } from "./key-ring.ts";

/** The part of `node:fs/promises` that is used. */
export interface RingFiles {
  readonly open: (path: string, flags: number, mode?: number) => Promise<RingHandle>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly unlink: (path: string) => Promise<void>;
}

export type RingHandle = Pick<FileHandle, "writeFile" | "readFile" | "stat" | "chmod" | "sync" | "close">;

export interface RingPlace {
  readonly files: RingFiles;
  /** Absolute. */
  readonly folder: string;
  readonly name: string;
}

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
const RING_BYTES_MAX = 1_048_576;

export type LoadedRing = KeyRingResult | { readonly ok: "missing" };

export async function loadKeyRing({ files, folder, name }: RingPlace): Promise<LoadedRing> {
  let handle: RingHandle;
  try {
    handle = await files.open(`${folder}/${name}`, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { ok: "missing" };
    const hint =
      codeOf(error) === "ELOOP" ? "it is a link: put the file itself there" : "see that its owner runs this";
    return { ok: false, message: `the key ring cannot be opened: ${hint}` };
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile() || stat.size > RING_BYTES_MAX) {
      return { ok: false, message: "the key ring is not a plain file of its size: restore it from a backup" };
    }
    // INVARIANT: a ring that others could read or replace is not used.
    if ((stat.mode & OTHERS) !== 0) {
      return {
        ok: false,
        message: "the key ring is open to others: find out who, rotate it, and set its mode to 600",
      };
    }
    return parseKeyRing(await handle.readFile("utf8"));
  } finally {
    await handle.close();
  }
}

/** Resolves once the ring is durable; a rejection leaves the old one in place, or the new one. */
export async function saveKeyRing({ files, folder, name }: RingPlace, ring: KeyRing): Promise<void> {
  const fresh = `${folder}/${name}.new`;
  // WHY: what a crash left behind is in the way of the exclusive open below.
  await files.unlink(fresh).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await files.open(fresh, flags, OWNER_ONLY);
  try {
    await handle.chmod(OWNER_ONLY);
    await handle.writeFile(formatKeyRing(ring), "utf8");
    await handle.sync();
  } finally {
    await handle.close();
  }
  await files.rename(fresh, `${folder}/${name}`);
  const folderHandle = await files.open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folderHandle.sync();
  } finally {
    await folderHandle.close();
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
