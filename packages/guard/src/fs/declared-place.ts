/**
 * The short way of a read that is declared: the path as it is written is decided on from memory, and then found to be the
 * real one. Whatever is in doubt goes the long way, which walks, asks and says why not.
 * INVARIANT: nothing is opened before the decision, and nothing is read or told before the path was found to be real.
 * Where the kernel holds the rules as well (`isConfined`), it is the kernel that sees where a link leads.
 */
import { constants } from "node:fs";
import type { Ground } from "../ground.ts";
import { descriptorPath, isHeldAt, isRealAt, statsAt } from "./held-places.ts";
import { nativeFs, requireCleanText } from "./native-fs.ts";
import { reopened } from "./numbers-in-use.ts";
import { plainPath } from "./plain-path.ts";

const { closeSync, openSync } = nativeFs;
const { O_NOFOLLOW, O_RDONLY } = constants;

/** The path that is decided on; `undefined` where the long way is needed. */
export function declaredPath({ decider }: Ground, input: unknown): string | undefined {
  const path = plainPath(input);
  if (path === undefined || !decider.isDeclared("read", path)) return undefined;
  requireCleanText();
  return path;
}

/** Opened for reading and verified; `undefined` where the long way is needed. */
export function openDeclared(ground: Ground, input: unknown): number | undefined {
  const path = declaredPath(ground, input);
  if (path === undefined) return undefined;
  let fd: number;
  try {
    fd = openSync(path, ground.isConfined ? O_RDONLY : O_NOFOLLOW);
  } catch {
    return undefined;
  }
  if (!isVerified(ground, fd, path)) {
    closeSync(fd);
    return undefined;
  }
  ground.decider.noteDeclared("read", path, input as string);
  return reopened(fd);
}

/** The descriptor was opened for this path, and the kernel names it so. */
export function isVerified({ isConfined }: Ground, fd: number, path: string): boolean {
  if (isConfined) return true;
  try {
    return descriptorPath(fd) === path;
  } catch {
    return false;
  }
}

/** A place that is there and may be looked at by this path; `undefined` where the long way is needed. */
export function declaredPlace(ground: Ground, input: unknown): string | undefined {
  const path = declaredPath(ground, input);
  if (path === undefined || !(ground.isConfined || isHeldAt(path))) return undefined;
  ground.decider.noteDeclared("read", path, input as string);
  return path;
}

/** Whether something is there that may be looked at, without an OS sandbox; false where the long way is needed. */
export function isDeclaredThere(ground: Ground, input: unknown): boolean {
  const path = declaredPath(ground, input);
  if (path === undefined || !isRealAt(path)) return false;
  ground.decider.noteDeclared("read", path, input as string);
  return true;
}

/**
 * What Node says of a place that may be looked at; `undefined` where the long way is needed.
 * @param look Node's own, about the path that it is given
 */
export function declaredStats(
  ground: Ground,
  input: unknown,
  look: (path: string) => object | undefined,
): object | undefined {
  const path = declaredPath(ground, input);
  if (path === undefined) return undefined;
  const stats = ground.isConfined ? look(path) : statsAt(path, look);
  if (stats !== undefined) ground.decider.noteDeclared("read", path, input as string);
  return stats;
}
