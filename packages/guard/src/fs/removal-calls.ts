/**
 * `rm` and `rmdir`. What is removed is what was asked about, entry by entry: one that came later is left, and its folder
 * with it. WHY: older Nodes take `recursive` for `rmdir` too.
 */
import type { AnyFunction } from "../any-function.ts";
import type { AccessPart } from "../access-part.ts";
import { apply, bare, freeze, inNextTick, newPromise, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { type Act, type Told, atOnce, requireSteady, toldTo } from "./at-once.ts";
import { callNow, callbackAct, failing, promiseAct, restored } from "./call-drivers.ts";
import { type CallPlan, blanked } from "./call-plan.ts";
import { isOn, removal } from "./composite-plans.ts";
import { isFolder } from "./entries-below.ts";
import { nativeFs, requireCleanText } from "./native-fs.ts";

const { lstatSync, rmdir, rmdirSync, unlink, unlinkSync } = nativeFs;
const QUIET = freeze(bare({ throwIfNoEntry: false }));
type Callback = (error: unknown) => void;

/** What is left to be done where all parts have passed, from the last to the first. */
interface Removal {
  readonly name: "rm" | "rmdir";
  /** Node's synchronous form. */
  readonly now: AnyFunction;
}

/** Node does it by itself where it is told to remove one folder, or is given what is no path. */
function isNodes({ name }: Removal, { parts, args }: CallPlan): boolean {
  if (parts.length === 0) return true;
  return name === "rmdir" && (!isOn(args[1], "recursive") || !isFolder((parts[0] as AccessPart).target));
}

/** What `rm` says of a missing thing, and of a folder without `recursive`. `false`: there is nothing to do. */
function isDue({ parts, args, facts }: CallPlan): boolean {
  const { target } = parts[0] as AccessPart;
  if (lstatSync(target, QUIET) === undefined) {
    if (isOn(args[1], "force")) return false;
    lstatSync(target);
  }
  if (!isFolder(target) || isOn(args[1], "recursive")) return true;
  const error = new Error(`Path is a directory: rm returned EISDIR (is a directory) ${facts.path}`);
  put(error, "name", "SystemError", false);
  put(error, "code", "ERR_FS_EISDIR");
  put(error, "errno", 21);
  put(error, "syscall", "rm");
  put(error, "path", facts.path);
  throw error;
}

/** Entry by entry, from the last to the first. */
function removeNow(removing: Removal, plan: CallPlan): unknown {
  if (isNodes(removing, plan)) return callNow(removing.now, plan);
  requireCleanText();
  try {
    for (let index = isDue(plan) ? plan.parts.length - 1 : -1; index >= 0; index--) {
      const path = (plan.parts[index] as AccessPart).target;
      if (isFolder(path)) rmdirSync(path);
      else unlinkSync(path);
    }
  } catch (error) {
    throw restored(error, plan.places);
  }
  return undefined;
}

export function removalSync(ground: Ground, removing: Removal): AnyFunction {
  const call = bare({ ground, syscall: removing.name });
  return (...args) => {
    const plan = removal(args, call);
    ground.decider.now(plan.parts, plan.facts);
    return removeNow(removing, plan);
  };
}

/** Decided, and then made as `at-once.ts` says; by Node's threads where the kernel holds the rules as well. */
function removeLater(
  { decider, isConfined }: Ground,
  removing: Removal,
  plan: CallPlan,
  original: Act,
  told: Told,
): void {
  let isReturned = false;
  decider.later(plan.parts, plan.facts, (blocked) => {
    try {
      if (blocked !== undefined) throw blocked;
      if (isReturned) requireSteady(plan);
      if (!isConfined) atOnce(() => removeNow(removing, plan))([], told);
      else if (isNodes(removing, plan)) original(plan.args, told);
      else removeByThreads(plan, told);
    } catch (error) {
      if (!isReturned && blocked === undefined) throw error;
      inNextTick(told, error);
    }
  });
  isReturned = true;
}

/** From the last part to the first, one at a time. */
function removeByThreads(plan: CallPlan, told: Told): void {
  const { parts, places } = plan;
  const step = (index: number): void => {
    if (index < 0) {
      inNextTick(told, null);
      return;
    }
    const path = (parts[index] as AccessPart).target;
    const next: Callback = (error) => {
      if (error === null || error === undefined) step(index - 1);
      else told(restored(error, places));
    };
    if (isFolder(path)) rmdir(path, next);
    else unlink(path, next);
  };
  try {
    requireCleanText();
    step(isDue(plan) ? parts.length - 1 : -1);
  } catch (error) {
    inNextTick(told, restored(error, places));
  }
}

export function removalCallback(ground: Ground, removing: Removal, original: AnyFunction): AnyFunction {
  const call = bare({ ground, syscall: removing.name });
  return (...args) => {
    const last = args.length - 1;
    const callback = args[last] as Callback;
    if (typeof callback !== "function") return apply(original, undefined, blanked(args, 1));
    let plan: CallPlan;
    try {
      plan = removal(last === 1 ? [args[0]] : [args[0], args[1]], call);
    } catch (error) {
      failing(callback)(error);
      return undefined;
    }
    removeLater(ground, removing, plan, callbackAct(original), toldTo(callback));
    return undefined;
  };
}

export function removalPromise(ground: Ground, removing: Removal, original: AnyFunction): AnyFunction {
  const call = bare({ ground, syscall: removing.name });
  return (...args) =>
    newPromise<void>((resolve, reject) => {
      const plan = removal(args, call);
      removeLater(ground, removing, plan, promiseAct(original), (error) => {
        if (error === null || error === undefined) resolve(undefined);
        else reject(error);
      });
    });
}
