/**
 * Puts the guard in the place of every function of `node:fs` and `node:fs/promises` that touches something. Streams need
 * nothing of their own: they look `fs.open`, `fs.read` and `fs.write` up when they are used.
 */
import type { AnyFunction } from "../any-function.ts";
import fs from "node:fs";
import { apply, bare } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { type Act, atOnce, statAtOnce } from "./at-once.ts";
import {
  type Wrapping,
  callbackAct,
  callbackCall,
  promiseAct,
  promiseCall,
  syncCall,
} from "./call-drivers.ts";
import type { Planner } from "./call-plan.ts";
import { COMPOSITE_PLANS } from "./composite-plans.ts";
import {
  CONTENT_CALLS,
  TRUNCATE,
  callbackContent,
  openCallbackCall,
  openPromiseCall,
  openSyncCall,
  promiseContent,
  promiseTruncate,
  syncContent,
} from "./content-calls.ts";
import { closeCallbackCall, closeSyncCall } from "./close-calls.ts";
import { copyFileAct } from "./copy-file.ts";
import { copyTree } from "./copy-tree-calls.ts";
import { installCopySteps } from "./copy-tree-steps.ts";
import {
  CHANGING_CALLS,
  DESCRIPTOR_CALLS,
  changeCallback,
  changeSync,
  onDescriptor,
} from "./descriptor-calls.ts";
import { disposableFolderPromise, disposableFolderSync } from "./disposable-folder.ts";
import { globCallbackCall, globPromiseCall, globSyncCall } from "./glob-calls.ts";
import { guardFolders, openFolder } from "./listed-folder.ts";
import { closePathModule, nativeFs } from "./native-fs.ts";
import { PATH_PLANS } from "./path-plans.ts";
import { guardPipedNumbers } from "./piped-number.ts";
import { removalCallback, removalPromise, removalSync } from "./removal-calls.ts";
import {
  accessSyncCall,
  existsCallbackCall,
  existsSyncCall,
  refusedCall,
  statSyncCall,
  unwatchFileCall,
  watchCall,
  watchFileCall,
} from "./special-calls.ts";
import { guardWatchHandles } from "./watch-handles.ts";

const { promises } = fs;

/** Synchronous calls of which many are made. */
const SHORT_WAYS: Readonly<Record<string, typeof statSyncCall>> = Object.freeze(
  bare({ access: accessSyncCall, lstat: statSyncCall, stat: statSyncCall }),
);

/** What has no guarded form yet. */
const REFUSED_FILE_CALLS = Object.freeze([["Utf8Stream", "use `createWriteStream`"]] as const);

export function installFs(ground: Ground): void {
  closePathModule();
  for (const [name, { plan, syscall, isJudged, hasEncoding }] of Object.entries(PATH_PLANS))
    threeForms(ground, name, plan, syscall, 1, { isJudged, hasEncoding });
  for (const [name, { plan, syscall, paths = 1 }] of Object.entries(COMPOSITE_PLANS))
    threeForms(ground, name, plan, syscall, paths);
  threeForms(ground, "cp", copyTree, "cp", 2);
  installRealpath(ground);
  installContent(ground);
  installDescriptors(ground);
  guardPipedNumbers(ground);
  installRemoval(ground);
  installSpecial(ground);
}

/** WHY: Node loads these parts when they are first used, and takes what `fs` holds then. */
export function warmFs({ isConfined }: Pick<Ground, "isConfined">): void {
  if (isConfined) warmCopy();
  else installCopySteps(warmCopy);
  try {
    fs.rmSync("", { force: true, recursive: true });
  } catch {
    // WHY: what it says of its arguments is of no interest, nor what Node's own permission model says of them.
  }
}

function warmCopy(): void {
  try {
    fs.cpSync("", "", {});
  } catch {
    // The same.
  }
  // WHY only where it is not loaded by now: Node starts threads for it, and the program ends when they have answered.
  const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
  if (moduleLoadList.includes("NativeModule internal/fs/cp/cp")) return;
  void fs.promises.cp("", "").catch(() => undefined);
}

function threeForms(
  ground: Ground,
  name: string,
  plan: Planner,
  syscall: string,
  paths: number,
  judged: Pick<Wrapping, "isJudged" | "hasEncoding"> = {},
): void {
  const wrapping = (original: AnyFunction, act?: Act) =>
    bare({ ground, original, act, plan, syscall, paths, ...judged });
  replaceExport(promises, name, (original) =>
    promiseCall(wrapping(original, actOf(ground, name, promiseAct(original)))),
  );
  if (name === "realpath") return;
  replaceExport(fs, name, (original) =>
    callbackCall(wrapping(original, actOf(ground, name, callbackAct(original)))),
  );
  replaceExport(fs, `${name}Sync`, (original) => {
    const longWay = syncCall(wrapping(name === "opendir" ? openFolder : original));
    const shortWay = SHORT_WAYS[name];
    return shortWay === undefined ? longWay : shortWay(ground, original, longWay);
  });
}

/** How the asynchronous forms of a call are made; see `at-once.ts`. */
function actOf({ isConfined }: Ground, name: string, original: Act): Act {
  if (name === "cp" || (isConfined && name !== "opendir")) return original;
  if (name === "copyFile") return copyFileAct;
  const now = name === "opendir" ? openFolder : nowOf(name);
  if (now === undefined) return original;
  return name === "stat" || name === "lstat" ? statAtOnce(now, original) : atOnce(now);
}

function nowOf(name: string): AnyFunction | undefined {
  const { realpathSync } = nativeFs;
  if (name === "realpath") return realpathSync.native as AnyFunction;
  return (nativeFs as unknown as Readonly<Record<string, AnyFunction | undefined>>)[`${name}Sync`];
}

/** WHY: in both forms the native one: the other walks by `fs.lstat`, which would ask about every folder above. */
function installRealpath(ground: Ground): void {
  const call = PATH_PLANS["realpath"] as (typeof PATH_PLANS)[string];
  const { realpath, realpathSync } = fs;
  const native = realpath.native as AnyFunction;
  const act = actOf(ground, "realpath", callbackAct(native));
  const later = callbackCall(bare({ ...call, ground, original: native, act }));
  const now = syncCall(bare({ ...call, ground, original: realpathSync.native as AnyFunction }));
  replaceExport(realpath, "native", () => later);
  replaceExport(realpathSync, "native", () => now);
  replaceExport(fs, "realpath", () =>
    Object.assign((...args: unknown[]) => apply(later, undefined, args), { native: later }),
  );
  replaceExport(fs, "realpathSync", () =>
    Object.assign((...args: unknown[]) => apply(now, undefined, args), { native: now }),
  );
}

function installContent(ground: Ground): void {
  for (const call of CONTENT_CALLS) {
    replaceExport(fs, call.name, (original) => callbackContent(ground, { ...call, original }));
    replaceExport(fs, `${call.name}Sync`, (original) => syncContent(ground, { ...call, original }));
    replaceExport(promises, call.name, (original) => promiseContent(ground, { ...call, original }));
  }
  const { ftruncate, ftruncateSync } = nativeFs;
  replaceExport(fs, "truncate", (original) =>
    callbackContent(ground, { ...TRUNCATE, original, byDescriptor: ftruncate as AnyFunction }),
  );
  replaceExport(fs, "truncateSync", (original) =>
    syncContent(ground, { ...TRUNCATE, original, byDescriptor: ftruncateSync as AnyFunction }),
  );
  replaceExport(promises, "truncate", (original) =>
    promiseTruncate(ground, { ...TRUNCATE, original, byDescriptor: ftruncate as AnyFunction }),
  );
  replaceExport(fs, "open", (original) => openCallbackCall(ground, original));
  replaceExport(fs, "openSync", (original) => openSyncCall(ground, original));
  replaceExport(promises, "open", (original) => openPromiseCall(ground, original));
}

function installDescriptors(ground: Ground): void {
  replaceExport(fs, "close", (original) => closeCallbackCall(ground, original));
  replaceExport(fs, "closeSync", (original) => closeSyncCall(ground, original));
  for (const name of DESCRIPTOR_CALLS) {
    replaceExport(fs, name, (original) => onDescriptor(ground, original, name));
    replaceExport(fs, `${name}Sync`, (original) => onDescriptor(ground, original, name));
  }
  for (const name of CHANGING_CALLS) {
    const now = nowOf(name) as AnyFunction;
    replaceExport(fs, name, (original) => changeCallback(ground, original, name, now));
    replaceExport(fs, `${name}Sync`, (original) => changeSync(ground, original, name));
  }
}

function installRemoval(ground: Ground): void {
  for (const name of ["rm", "rmdir"] as const) {
    const removing = bare({ name, now: nowOf(name) as AnyFunction });
    replaceExport(fs, name, (original) => removalCallback(ground, removing, original));
    replaceExport(fs, `${name}Sync`, () => removalSync(ground, removing));
    replaceExport(promises, name, (original) => removalPromise(ground, removing, original));
  }
}

function installSpecial(ground: Ground): void {
  guardWatchHandles(ground);
  guardFolders();
  replaceExport(fs, "existsSync", (original) => existsSyncCall(ground, original));
  replaceExport(fs, "exists", (original) => existsCallbackCall(ground, original));
  replaceExport(fs, "watch", (original) => watchCall(ground, original));
  replaceExport(promises, "watch", (original) => watchCall(ground, original));
  replaceExport(fs, "watchFile", (original) => watchFileCall(ground, original));
  replaceExport(fs, "unwatchFile", unwatchFileCall);
  replaceExport(fs, "globSync", (original) => globSyncCall(ground, original));
  replaceExport(fs, "glob", (original) => globCallbackCall(ground, original));
  replaceExport(promises, "glob", (original) => globPromiseCall(ground, original));
  replaceExport(fs, "mkdtempDisposableSync", () => disposableFolderSync(ground));
  replaceExport(promises, "mkdtempDisposable", () => disposableFolderPromise(ground));
  for (const [name, instead] of REFUSED_FILE_CALLS) {
    replaceExport(fs, name, () => refusedCall(`fs.${name}`, instead));
    replaceExport(promises, name, () => refusedCall(`fs.promises.${name}`, instead));
  }
}
