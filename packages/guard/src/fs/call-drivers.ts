/**
 * Turns a plan into a call, in the three forms that Node's file functions have. The parts are decided first; only where
 * all of them pass is Node's own function called, with the arguments of the plan.
 * INVARIANT: between the decision and the call nothing of the program runs.
 */
import { append, apply, bare, inNextTick, newPromise, settled } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { asWritten } from "./as-written.ts";
import { type CallPlan, type PlannedCall, type Planner, blanked } from "./call-plan.ts";
import { requireCleanText } from "./native-fs.ts";
import { judgeEncoding, judgeNumbers } from "./odd-arguments.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- functions of any signature are wrapped
export type AnyFunction = (...args: any[]) => unknown;
type Callback = (error: unknown, ...values: unknown[]) => void;

export interface Wrapping {
  readonly ground: Ground;
  readonly original: AnyFunction;
  readonly plan: Planner;
  readonly syscall: string;
  /** How many of the first arguments are paths; one unless said. */
  readonly paths?: number | undefined;
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
    return callNow(original, planned);
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
        fail(blocked);
        return;
      }
      try {
        callLater(original, planned, callback as Callback);
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

function callLater(original: AnyFunction, { args, places, result }: CallPlan, callback: Callback): void {
  requireCleanText();
  const own: unknown[] = [];
  for (let index = 0; index < args.length; index++) append(own, args[index]);
  const answered: Callback = (error, ...values) => {
    if (error !== null && error !== undefined) callback(restored(error, places), ...values);
    else if (result === undefined) callback(error, ...values);
    else callback(error, result(values[0]));
  };
  append(own, answered);
  apply(original, undefined, own);
}

/** WHY: a callback is never called before the call has returned. */
export function failing(callback: Callback): (error: unknown) => void {
  return (error) => inNextTick(callback, error);
}

export function promiseCall(wrapping: Wrapping): AnyFunction {
  const { ground, original, plan, hasEncoding = false } = wrapping;
  const call = callOf(wrapping);
  return (...args) =>
    newPromise((resolve, reject) => {
      if (hasEncoding) judgeEncoding(args[1]);
      const planned = plan(args, call);
      ground.decider.later(planned.parts, planned.facts, (blocked) => {
        if (blocked !== undefined) {
          reject(blocked);
          return;
        }
        try {
          requireCleanText();
          const promise = apply(original, undefined, planned.args as unknown[]) as Promise<unknown>;
          const { result, places } = planned;
          settled(
            promise,
            (value) => resolve(result === undefined ? value : result(value)),
            (error) => reject(restored(error, places)),
          );
        } catch (error) {
          reject(error);
        }
      });
    });
}

export function restored(error: unknown, places: CallPlan["places"]): unknown {
  for (let index = 0; index < places.length; index++) {
    const { path, requested } = places[index] as CallPlan["places"][number];
    asWritten(error, path, requested);
  }
  return error;
}
