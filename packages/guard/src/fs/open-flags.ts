/**
 * What the flags of an open mean: which parts are checked, and which bits open exactly what was checked.
 * INVARIANT: what was checked as new is opened exclusively, what was checked as existing is never made, a link that took
 * the place of the file meanwhile is not followed, and nothing is emptied before the descriptor was verified.
 */
import { constants } from "node:fs";
import { type AccessPart, type Place, createOrModify, filePart } from "../access-part.ts";
import { append, bare, freeze, hasOwn } from "../captured.ts";

const {
  O_ACCMODE = 3,
  O_APPEND,
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  O_NOFOLLOW,
  O_RDONLY,
  O_RDWR,
} = constants as typeof constants & { readonly O_ACCMODE?: number };
const { O_SYNC, O_TRUNC, O_WRONLY } = constants;
const O_PATH = 0o10000000;
const O_TMPFILE = 0o20000000;

/** Node's own words for flags. */
const BITS: Readonly<Record<string, number>> = freeze(
  bare({
    r: O_RDONLY,
    rs: O_RDONLY | O_SYNC,
    sr: O_RDONLY | O_SYNC,
    "r+": O_RDWR,
    "rs+": O_RDWR | O_SYNC,
    "sr+": O_RDWR | O_SYNC,
    w: O_TRUNC | O_CREAT | O_WRONLY,
    wx: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
    xw: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
    "w+": O_TRUNC | O_CREAT | O_RDWR,
    "wx+": O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
    "xw+": O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
    a: O_APPEND | O_CREAT | O_WRONLY,
    ax: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
    xa: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
    as: O_APPEND | O_CREAT | O_WRONLY | O_SYNC,
    sa: O_APPEND | O_CREAT | O_WRONLY | O_SYNC,
    "a+": O_APPEND | O_CREAT | O_RDWR,
    "ax+": O_APPEND | O_CREAT | O_RDWR | O_EXCL,
    "xa+": O_APPEND | O_CREAT | O_RDWR | O_EXCL,
    "as+": O_APPEND | O_CREAT | O_RDWR | O_SYNC,
    "sa+": O_APPEND | O_CREAT | O_RDWR | O_SYNC,
  }),
);

/** `undefined` for what Node refuses, and for what opens without a path that could be checked. */
export function flagBits(flags: unknown): number | undefined {
  if (flags === undefined || flags === null) return O_RDONLY;
  const bits = typeof flags === "string" ? (hasOwn(BITS, flags) ? BITS[flags] : undefined) : flags;
  if (typeof bits !== "number" || (bits | 0) !== bits) return undefined;
  return (bits & O_TMPFILE) !== 0 || (bits & O_PATH) !== 0 ? undefined : bits;
}

/** An exclusive open looks at the name itself. */
export function endingOf(bits: number): "follow" | "keep" {
  const isExclusive = (bits & O_CREAT) !== 0 && (bits & O_EXCL) !== 0;
  return isExclusive || (bits & O_NOFOLLOW) !== 0 ? "keep" : "follow";
}

export interface Opening {
  readonly parts: readonly AccessPart[];
  /** Opens what was checked, and nothing else. */
  readonly bits: number;
  readonly empties: boolean;
  /** It was checked as new, and is made. */
  readonly isNew: boolean;
  /** Codes of errors which say that the place is no longer what was looked at. */
  readonly isMoved: (code: string | undefined) => boolean;
}

export function openingOf(bits: number, place: Place): Opening {
  const mode = bits & O_ACCMODE;
  const isMaking = (bits & O_CREAT) !== 0;
  const isExclusive = isMaking && (bits & O_EXCL) !== 0;
  const isNew = isMaking && (isExclusive || !place.exists);
  const writes = mode !== O_RDONLY || (bits & O_TRUNC) !== 0;
  const parts: AccessPart[] = [];
  if (mode !== O_WRONLY) append(parts, filePart("read", place));
  if (isNew) append(parts, filePart("create", place));
  else if (writes) append(parts, isMaking ? createOrModify(place) : filePart("modify", place));
  const kept = bits & ~(O_CREAT | O_EXCL | O_TRUNC);
  const isOwn = (bits & O_NOFOLLOW) !== 0;
  return freeze(
    bare({
      parts: freeze(parts),
      bits: kept | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0),
      isNew,
      empties: !isNew && (bits & O_TRUNC) !== 0 && (bits & O_DIRECTORY) === 0,
      isMoved: (code: string | undefined) =>
        (code === "EEXIST" && isNew && !isExclusive) ||
        (code === "ENOENT" && isMaking && !isNew) ||
        (code === "ELOOP" && !isOwn),
    }),
  );
}
