/**
 * Which file is at a path, as the kernel says, without the object that `statSync` makes of it, which takes as long as asking
 * does. Taken from Node's inside before foreign code runs, and only where Node's own `statSync` is seen to call it in this very
 * way: called in another one, an older or newer Node could end the process.
 */
import process from "node:process";
import { quietly } from "../captured.ts";
import { nativeFs } from "./native-fs.ts";

/** Numbers of a file, in Node's order. They are Node's own memory, and stand until it is next asked. */
type Numbers = Readonly<Float64Array>;
type NativeStat = (
  path: string,
  isBig: false,
  request: undefined,
  throwsIfAbsent: false,
) => Numbers | undefined;

/** How `statSync` calls it, without spaces; its first argument is the path. */
const CALLED = /\bbinding\.stat\([\w.()]+,options\.bigint,undefined,options\.throwIfNoEntry,?\)/;
const DEV = 0;
const INO = 7;

const nativeStat = quietly(takeNative);

function takeNative(): NativeStat | undefined {
  if (!CALLED.test(String(nativeFs.statSync).replaceAll(/\s/g, ""))) return undefined;
  try {
    const internals = process as unknown as { binding(name: string): { readonly stat?: NativeStat } };
    return internals.binding("fs").stat;
  } catch {
    // WHY: some ways to start Node hand out no internals.
    return undefined;
  }
}

/** Whether {@link isFileAt} can tell. */
export const canTellFiles = nativeStat !== undefined;

/** Whether the file with these numbers is what the path leads to now. False also where nobody can tell. */
export function isFileAt(path: string, dev: number, ino: number): boolean {
  if (nativeStat === undefined) return false;
  try {
    const numbers = nativeStat(path, false, undefined, false);
    return numbers !== undefined && numbers[DEV] === dev && numbers[INO] === ino;
  } catch {
    return false;
  }
}
