/**
 * Descriptors that no number reaches: the ends of gates of programs that this process started, which the gate's worker keeps,
 * and connections that only decided things leave by, which Node's sockets use. A number is forgotten once something else
 * stands behind it.
 */
import { nativeFs } from "../fs/native-fs.ts";

const { readlinkSync } = nativeFs;
/** By number: what the kernel calls it. Without a prototype, and looked up by own names alone. */
const kept: Record<number, string> = Object.create(null) as Record<number, string>;

export function keep(fd: number): void {
  kept[fd] = readlinkSync(`/proc/self/fd/${fd}`);
}

/** It is open to everybody again. */
export function keepNoMore(fd: number): void {
  delete kept[fd];
}

export function isKept(fd: unknown): boolean {
  if (typeof fd !== "number") return false;
  const known = kept[fd];
  if (known === undefined) return false;
  try {
    if (readlinkSync(`/proc/self/fd/${fd}`) === known) return true;
  } catch {
    // It was closed.
  }
  delete kept[fd];
  return false;
}
