/**
 * Turns a plan into a call, in the three forms that Node's file functions have. The parts are decided first; only where
 * all of them pass is Node's own function called, with the arguments of the plan.
 * INVARIANT: between the decision and the call nothing of the program runs.
 */
import type { AnyFunction } from "../any-function.ts";
import { append, apply, bare, inNextTick, newPromise, settled } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { asWritten } from "./as-written.ts";
import { type Act, type Told, requireSteady, toldTo } from "./at-once.ts";
import { type CallPlan, type PlannedCall, type Planner, blanked } from "./call-plan.ts";
import { requireCleanText } from "./native-fs.ts";
import { judgeEncoding, judgeNumbers } from "./odd-arguments.ts";

type Callback = (error: unknown, ...values: unknown[]) => void;

export interface Wrapping {
  readonly ground: Ground;
  readonly original: AnyFunction;
  readonly plan: Planner;
  readonly syscall: string;
  /** How many of the first arguments are paths; one unless said. */
  readonly paths?: number | undefined;
  /** How an asynchronous call is made; by Node's own function unless said. */
  readonly act?: Act | undefined;
  /** Node may be asked about the other arguments alone: with an empty path the call does nothing. */
  readonly isJudged?: boolean | undefined;
  /** The second argument is an encoding, or options with one. */
  readonly hasEncoding?: boolean | undefined;
}

function callOf({ ground, syscall }: Wrapping): PlannedCall {
  return bare({ ground, syscall });
}

export function syncCall(wrapping: Wrapping): AnyFunction {
  const { ground, original, plan, hasEncoding = false } = wrapping;
  const call = callOf(wrapping);
  return (...args) => {
    if (hasEncoding) judgeEncoding(args[1]);
    const planned = plan(args, call);
    ground.decider.now(planned.parts, planned.facts);
    try {
      return callNow(original, planned);
    } finally {
      planned.over?.();
    }
  };
}

export function callNow(original: AnyFunction, { args, places, result }: CallPlan): unknown {
  requireCleanText();
  let value: unknown;
  try {
    value = apply(original, undefined, args as unknown[]);
  } catch (error) {
    throw restored(error, places);
  }
  return result === undefined ? value : result(value);
}

export function callbackCall(wrapping: Wrapping): AnyFunction {
  const { ground, original, plan, paths = 1, isJudged = false, hasEncoding = false } = wrapping;
  const call = callOf(wrapping);
  const act = wrapping.act ?? callbackAct(original);
  return (...args) => {
    const last = args.length - 1;
    const callback: unknown = args[last];
    if (typeof callback !== "function") return apply(original, undefined, blanked(args, paths));
    if (isJudged) judgeNumbers(original, args, paths);
    if (hasEncoding) judgeEncoding(args[1]);
    const own: unknown[] = [];
    for (let index = 0; index < last; index++) append(own, args[index]);
    const fail = failing(callback as Callback);
    let planned: CallPlan;
    try {
      planned = plan(own, call);
    } catch (error) {
      fail(error);
      return undefined;
    }
    let isReturned = false;
    ground.decider.later(planned.parts, planned.facts, (blocked) => {
      if (blocked !== undefined) {
        planned.over?.();
        fail(blocked);
        return;
      }
      try {
        callLater(act, planned, isReturned, toldTo(callback as Callback));
      } catch (error) {
        // WHY: what Node says of an argument is thrown while the call is made, and told to the callback later on.
        if (!isReturned) throw error;
        fail(error);
      }
    });
    isReturned = true;
    return undefined;
  };
}

/** @param hasWaited the program ran since the call was planned */
function callLater(act: Act, planned: CallPlan, hasWaited: boolean, told: Told): void {
  const { args, places, result, over } = planned;
  try {
    requireCleanText();
    if (hasWaited) requireSteady(planned);
    act(args, (error, value) => {
      over?.();
      if (error !== null && error !== undefined) told(restored(error, places));
      else told(null, result === undefined ? value : result(value));
    });
  } catch (error) {
    over?.();
    throw restored(error, places);
  }
}

/** Node's own function makes the call, in its own time. */
export function callbackAct(original: AnyFunction): Act {
  return (args, told) => {
    const own: unknown[] = [];
    for (let index = 0; index < args.length; index++) append(own, args[index]);
    append(own, told);
    apply(original, undefined, own);
  };
}

export function promiseAct(original: AnyFunction): Act {
  return (args, told) =>
    settled(
      apply(original, undefined, args as unknown[]) as Promise<unknown>,
      (value) => told(null, value),
      told,
    );
}

/** WHY: a callback is never called before the call has returned. */
export function failing(callback: Callback): (error: unknown) => void {
  return (error) => inNextTick(callback, error);
}

export function promiseCall(wrapping: Wrapping): AnyFunction {
  const { ground, original, plan, hasEncoding = false } = wrapping;
  const call = callOf(wrapping);
  const act = wrapping.act ?? promiseAct(original);
  return (...args) =>
    newPromise((resolve, reject) => {
      if (hasEncoding) judgeEncoding(args[1]);
      const planned = plan(args, call);
      let isReturned = false;
      ground.decider.later(planned.parts, planned.facts, (blocked) => {
        if (blocked !== undefined) {
          planned.over?.();
          reject(blocked);
          return;
        }
        try {
          callLater(act, planned, isReturned, (error, value) => {
            if (error !== null && error !== undefined) reject(error);
            else resolve(value);
          });
        } catch (error) {
          reject(error);
        }
      });
      isReturned = true;
    });
}

export function restored(error: unknown, places: CallPlan["places"]): unknown {
  for (let index = 0; index < places.length; index++) {
    const { path, requested } = places[index] as CallPlan["places"][number];
    asWritten(error, path, requested);
  }
  return error;
}
