/**
 * `mkdtempDisposableSync` and its promise: a folder that is made as `mkdtemp` makes it and removed as `rm` removes it,
 * each decided when it is done. The folder is remembered from the root on, whatever becomes of the working folder.
 */
import type { AnyFunction } from "../any-function.ts";
import { pathText } from "@sallyport/gate";
import { apply, bare, charCodeAt, freeze, newPromise, put, settled, workingFolder } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { atOnce } from "./at-once.ts";
import { promiseCall, syncCall } from "./call-drivers.ts";
import { nativeFs, nativePromises } from "./native-fs.ts";
import { PATH_PLANS } from "./path-plans.ts";
import { removalPromise, removalSync } from "./removal-calls.ts";

const SLASH = 0x2f;
const ALL = freeze(bare({ force: true, recursive: true }));
const REMOVING = freeze(bare({ name: "rm" as const, now: nativeFs.rmSync as AnyFunction }));
const { plan, syscall } = PATH_PLANS["mkdtemp"] as (typeof PATH_PLANS)[string];
// WHY: Node 20 has no names for them, nor these functions.
const { dispose, asyncDispose } = Symbol as { dispose?: symbol; asyncDispose?: symbol };

function fromRoot(path: unknown, folder: string): string {
  const text = pathText(path) as string;
  return charCodeAt(text, 0) === SLASH ? text : `${folder}/${text}`;
}

export function disposableFolderSync(ground: Ground): AnyFunction {
  const make = syncCall(bare({ ground, original: nativeFs.mkdtempSync as AnyFunction, plan, syscall }));
  const removes = removalSync(ground, REMOVING);
  return (...args) => {
    const folder = workingFolder();
    const path = apply(make, undefined, args);
    const full = fromRoot(path, folder);
    const remove = (): void => void removes(full, ALL);
    const made = { path, remove };
    if (dispose !== undefined) put(made, dispose, () => remove());
    return made;
  };
}

export function disposableFolderPromise(ground: Ground): AnyFunction {
  const act = ground.isConfined ? undefined : atOnce(nativeFs.mkdtempSync as AnyFunction);
  const original = nativePromises.mkdtemp as AnyFunction;
  const make = promiseCall(bare({ ground, original, act, plan, syscall }));
  const removes = removalPromise(ground, REMOVING, nativePromises.rm as AnyFunction);
  return (...args) =>
    newPromise((resolve, reject) => {
      const folder = workingFolder();
      const done = (path: unknown): void => {
        const full = fromRoot(path, folder);
        const remove = (): unknown => removes(full, ALL);
        const made = bare({ path, remove });
        if (asyncDispose !== undefined) put(made, asyncDispose, () => remove());
        resolve(made);
      };
      settled(apply(make, undefined, args) as Promise<unknown>, done, reject);
    });
}
