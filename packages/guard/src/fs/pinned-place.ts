/**
 * A place that stays what it is while one of Node's threads works there: held by a descriptor, and named by it. Whatever the
 * program puts in its path meanwhile is not on the way. For the program these descriptors do not exist.
 * Trusts `/proc`, which the kernel writes.
 */
import { constants } from "node:fs";
import process from "node:process";
import { bare, freeze, parentOf, slice } from "../captured.ts";
import { closeHidden, descriptorName, descriptorPath, hide } from "./held-places.ts";
import { nativeFs } from "./native-fs.ts";

const { closeSync, openSync } = nativeFs;
const { O_DIRECTORY, O_NOFOLLOW } = constants;
const O_PATH = 0o10000000;

/** WHY: Node's own permission model knows no place by its descriptor. */
export const canPin = (process as unknown as { readonly permission?: unknown }).permission === undefined;

export interface Pin {
  /** Leads to the place by its descriptor. */
  readonly path: string;
  readonly release: () => void;
}

/** What is at a real path. `undefined`: nothing that can be held, or it leads elsewhere. */
export function pinFile(path: string): Pin | undefined {
  const fd = held(path, O_PATH | O_NOFOLLOW);
  return fd === undefined ? undefined : pinOf(descriptorName(fd), fd);
}

/** A name in a real folder, whether something has it or not. `undefined`: there is no such folder. */
export function pinName(path: string): Pin | undefined {
  const folder = parentOf(path);
  const fd = held(folder, O_PATH | O_NOFOLLOW | O_DIRECTORY);
  const name = slice(path, folder === "/" ? 1 : folder.length + 1);
  return fd === undefined ? undefined : pinOf(`${descriptorName(fd)}/${name}`, fd);
}

function pinOf(path: string, fd: number): Pin {
  hide(fd);
  return freeze(bare({ path, release: () => closeHidden(fd) }));
}

function held(path: string, bits: number): number | undefined {
  let fd: number;
  try {
    fd = openSync(path, bits);
  } catch {
    return undefined;
  }
  if (descriptorPath(fd) === path) return fd;
  closeSync(fd);
  return undefined;
}
