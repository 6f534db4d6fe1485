/**
 * Places that were looked at lately, each held by a descriptor that neither reads nor writes (`O_PATH`). As long as the
 * kernel names such a descriptor by a path, that path is there, has no link in it and leads to that very file: one look
 * in place of a walk. A place that was moved, removed or replaced has another name at the next look.
 * For a moment after a look the file is known by its number instead, which no other file can have while it is held: who
 * asks the kernel about the path and is told this number was told of no other file. What moves within that moment is still
 * found by its old path if something there leads to it; whatever this process itself removes or renames ends the moment.
 * Trusts `/proc`, which the kernel writes.
 */
import fs, { constants } from "node:fs";
import process from "node:process";
import { monotonicMs } from "@sallyport/gate";
import { SafeMap } from "@sallyport/gate/captured";
import { apply, bare, freeze, getPrototypeOf } from "../captured.ts";
import { canTellFiles, isFileAt } from "./file-at.ts";
import { nativeFs } from "./native-fs.ts";

const { closeSync, fstatSync, openSync, readlinkSync, statSync } = nativeFs;
const QUIET = freeze(bare({ throwIfNoEntry: false }));
const { O_NOFOLLOW, S_IFLNK, S_IFMT } = constants;
const O_PATH = 0o10000000;
/** WHY so few: what is held keeps its file on the disk when somebody else removes it. */
const HELD_MAX = 32;
/** How long a look counts. */
const LOOK_MS = 5;
/** What the kernel appends to the name of a removed file. */
const REMOVED = " (deleted)";
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { endsWith } = String.prototype;

/** WHY: without the link `self` the look is shorter; where `/proc` is that of other processes, `self` is right. */
const DESCRIPTORS = `/proc/${readlinkSync("/proc/self") === `${process.pid}` ? process.pid : "self"}/fd/`;

interface Held {
  readonly fd: number;
  /** What the kernel calls the file, exactly. */
  readonly dev: number;
  readonly ino: number;
  lookedMs: number;
}

const byPath = new SafeMap<string, Held>();
const byDescriptor = new SafeMap<number, true>();
/** Looks from before this count no more. */
let since = 0;

/** Where a descriptor leads, as the kernel says. Not a path for pipes, sockets and the like. */
export function descriptorPath(fd: number): string {
  return readlinkSync(DESCRIPTORS + fd);
}

/** A path that leads by a descriptor. */
export function descriptorName(fd: number): string {
  return DESCRIPTORS + fd;
}

/** Whether something is at this plain path, which is real at this moment. False also where nobody can tell. */
export function isHeldAt(path: string): boolean {
  return heldAt(path) !== undefined;
}

/**
 * What the kernel says of this plain path, which is real; `undefined` where it is not, or nobody can tell.
 * @param look Node's own, about the path that it is given
 */
export function statsAt<T extends object>(
  path: string,
  look: (path: string) => T | undefined,
): T | undefined {
  // WHY a second time: the path may lead to another file since the last look.
  for (let attempt = 0; attempt < 2; attempt++) {
    const held = recentlyHeldAt(path);
    if (held === undefined || !areNumbersOwn()) return undefined;
    const stats: (T & Partial<Held>) | undefined = look(path);
    if (stats !== undefined && getPrototypeOf(stats) !== StatsPrototype) return undefined;
    if (stats !== undefined && stats.dev === held.dev && stats.ino === held.ino) return stats;
    letGo(path);
  }
  return undefined;
}

/**
 * Whether something is at this plain path, which is real; false also where nobody can tell. The same question as that of
 * {@link statsAt}, and the same answer, without the object.
 */
export function isRealAt(path: string): boolean {
  if (!canTellFiles) return statsAt(path, lookAt) !== undefined;
  for (let attempt = 0; attempt < 2; attempt++) {
    const held = recentlyHeldAt(path);
    if (held === undefined) return false;
    if (isFileAt(path, held.dev, held.ino)) return true;
    letGo(path);
  }
  return false;
}

/** WHY `stat`: it says which file is there, and so that it is the one that was looked at. */
function lookAt(path: string): object | undefined {
  return statSync(path, QUIET);
}

function recentlyHeldAt(path: string): Held | undefined {
  const known = byPath.get(path);
  return known !== undefined && known.lookedMs > since && monotonicMs() < known.lookedMs + LOOK_MS
    ? known
    : heldAt(path);
}

function heldAt(path: string): Held | undefined {
  const known = byPath.get(path);
  if (known === undefined) return hold(path);
  // INVARIANT: counted from before the look.
  const nowMs = monotonicMs();
  if (!leadsTo(known.fd, path)) {
    letGo(path);
    return hold(path);
  }
  known.lookedMs = nowMs;
  return known;
}

/** WHY: Node writes the numbers of a file by assignment, which a setter on a prototype would get to see, and could change. */
const StatsPrototype = fs.Stats.prototype as object;
const StatsParent = getPrototypeOf(StatsPrototype);
const ObjectPrototype = Object.prototype;
const { isSafeInteger: isSafe } = Number;

function areNumbersOwn(): boolean {
  if (getPrototypeOf(StatsPrototype) !== StatsParent) return false;
  if (StatsParent !== ObjectPrototype && getPrototypeOf(StatsParent as object) !== ObjectPrototype)
    return false;
  return !("dev" in StatsPrototype) && !("ino" in StatsPrototype);
}

/** A descriptor of the guard's own: for the program it does not exist. */
export function isHeld(fd: unknown): boolean {
  return byDescriptor.get(fd as number) === true;
}

/** From now on it is one of the guard's own. */
export function hide(fd: number): void {
  byDescriptor.set(fd, true);
}

export function closeHidden(fd: number): void {
  byDescriptor.delete(fd);
  closeSync(fd);
}

/** Before the file is removed or renamed, so that nothing keeps it, and nothing below it is taken for what it was. */
export function letGo(path: string): void {
  since = monotonicMs();
  const held = byPath.get(path);
  if (held === undefined) return;
  byPath.delete(path);
  closeHidden(held.fd);
}

function leadsTo(fd: number, path: string): boolean {
  try {
    return descriptorPath(fd) === path;
  } catch {
    return false;
  }
}

function hold(path: string): Held | undefined {
  if (apply(endsWith, path, [REMOVED])) return undefined;
  const lookedMs = monotonicMs();
  let fd: number;
  try {
    fd = openSync(path, O_PATH | O_NOFOLLOW);
  } catch {
    return undefined;
  }
  const file = leadsTo(fd, path) ? numbersOf(fd) : undefined;
  if (file === undefined) {
    closeSync(fd);
    return undefined;
  }
  if (byPath.size >= HELD_MAX) letGo(byPath.oldest());
  const held: Held = bare({ fd, dev: file.dev, ino: file.ino, lookedMs });
  byPath.set(path, held);
  hide(fd);
  return held;
}

/** WHY: a link that is the last name is opened itself, and leads on for some calls. */
function numbersOf(fd: number): Pick<Held, "dev" | "ino"> | undefined {
  if (!areNumbersOwn() || "mode" in StatsPrototype) return undefined;
  const stats = fstatSync(fd);
  if (getPrototypeOf(stats) !== StatsPrototype) return undefined;
  const { mode, dev, ino } = stats;
  return (mode & S_IFMT) === S_IFLNK || !isSafe(ino) || !isSafe(dev) ? undefined : { dev, ino };
}
