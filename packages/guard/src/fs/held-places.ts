/**
 * Places that were looked at lately, each held by a descriptor that neither reads nor writes (`O_PATH`). As long as the
 * kernel names such a descriptor by a path, that path is there, has no link in it and leads to that very file: one look
 * in place of a walk. A place that was moved, removed or replaced has another name at the next look.
 * Trusts `/proc`, which the kernel writes. INVARIANT: nothing is known from before the look; only the descriptor is kept.
 */
import { constants } from "node:fs";
import process from "node:process";
import { SafeMap } from "@sallyport/gate/captured";
import { apply, getOwnPropertyDescriptor } from "../captured.ts";
import { nativeFs } from "./native-fs.ts";

const { closeSync, fstatSync, openSync, readlinkSync } = nativeFs;
const { O_NOFOLLOW, S_IFLNK, S_IFMT } = constants;
const O_PATH = 0o10000000;
/** WHY so few: what is held keeps its file on the disk when somebody else removes it. */
const HELD_MAX = 32;
/** What the kernel appends to the name of a removed file. */
const REMOVED = " (deleted)";
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { endsWith } = String.prototype;

/** WHY: without the link `self` the look is shorter; where `/proc` is that of other processes, `self` is right. */
const DESCRIPTORS = `/proc/${readlinkSync("/proc/self") === `${process.pid}` ? process.pid : "self"}/fd/`;

const byPath = new SafeMap<string, number>();
const byDescriptor = new SafeMap<number, true>();

/** Where a descriptor leads, as the kernel says. Not a path for pipes, sockets and the like. */
export function descriptorPath(fd: number): string {
  return readlinkSync(DESCRIPTORS + fd);
}

/** A descriptor of the file at this plain path, which is real at this moment; -1 where it is not, or nobody can tell. */
export function heldAt(path: string): number {
  const known = byPath.get(path);
  if (known !== undefined) {
    if (leadsTo(known, path)) return known;
    letGo(path);
  }
  return hold(path);
}

/** A descriptor of the guard's own: for the program it does not exist. */
export function isHeld(fd: unknown): boolean {
  return byDescriptor.get(fd as number) === true;
}

/** Before the file is removed, so that nothing keeps it. */
export function letGo(path: string): void {
  const fd = byPath.get(path);
  if (fd === undefined) return;
  byPath.delete(path);
  byDescriptor.delete(fd);
  closeSync(fd);
}

function leadsTo(fd: number, path: string): boolean {
  try {
    return descriptorPath(fd) === path;
  } catch {
    return false;
  }
}

function hold(path: string): number {
  if (apply(endsWith, path, [REMOVED])) return -1;
  let fd: number;
  try {
    fd = openSync(path, O_PATH | O_NOFOLLOW);
  } catch {
    return -1;
  }
  // WHY: a link that is the last name is opened itself, and leads on for some calls.
  if (!leadsTo(fd, path) || isLink(fd)) {
    closeSync(fd);
    return -1;
  }
  if (byPath.size >= HELD_MAX) letGo(byPath.oldest());
  byPath.set(path, fd);
  byDescriptor.set(fd, true);
  return fd;
}

/** True also where somebody has put a `mode` on a prototype, so that nobody can tell. */
function isLink(fd: number): boolean {
  const mode: unknown = getOwnPropertyDescriptor(fstatSync(fd), "mode")?.value;
  return typeof mode !== "number" || (mode & S_IFMT) === S_IFLNK;
}
