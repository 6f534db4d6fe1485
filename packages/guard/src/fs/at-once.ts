/**
 * Asynchronous calls by path are made at once, in this thread, and told a turn later. One of Node's threads would make them
 * when the program has gone on and may have put a link into the path; the walk that led to the place was made here anyway.
 * Where the kernel holds the rules as well it sees where a path leads, and Node's threads make the call.
 * INVARIANT: between the last look at a place and what is done there nothing of the program runs.
 */
import type { AnyFunction } from "../any-function.ts";
import { invalidError } from "../blocked-call.ts";
import { apply, beginsWith, errorCode, getOwnPropertyDescriptor, inNextTurn } from "../captured.ts";
import { asWritten } from "./as-written.ts";
import { type CallPlan, optionsOf } from "./call-plan.ts";
import { isSteady } from "./place-of.ts";

export type Told = (error: unknown, value?: unknown) => void;
/** Makes a call where it was decided on, and tells once what became of it, never before it returns. */
export type Act = (args: readonly unknown[], told: Told) => void;

/**
 * For a call that waited for its decision, in which time the program ran.
 * @throws ExternalAccessError where a place is no longer what was decided on
 */
export function requireSteady({
  places,
  facts,
  isWhole,
}: Pick<CallPlan, "places" | "facts" | "isWhole">): void {
  let isSame = true;
  for (let index = 0; index < places.length; index++)
    isSame &&= isSteady(places[index] as CallPlan["places"][number]);
  if (isSame && (isWhole === undefined || isWhole())) return;
  const { syscall, path, dest } = facts;
  throw invalidError(
    `\`${dest ?? path}\` leads elsewhere than when it was decided on: call \`${syscall}\` again`,
    facts,
  );
}

/** @param now Node's synchronous form of the call */
export function atOnce(now: AnyFunction): Act {
  return (args, told) => {
    let value: unknown;
    try {
      value = apply(now, undefined, args as unknown[]);
    } catch (error) {
      // WHY: what Node says of an argument it says while the call is made.
      if (isOfArguments(error)) throw error;
      inNextTurn(told, error, undefined);
      return;
    }
    inNextTurn(told, null, value);
  };
}

function isOfArguments(error: unknown): boolean {
  const code = errorCode(error) ?? "";
  if (!beginsWith(code, "ERR_") || code === "ERR_ACCESS_DENIED") return false;
  return getOwnPropertyDescriptor(error as object, "errno") === undefined;
}

/**
 * `stat` and `lstat`. Their asynchronous forms have options of their own, which differ from Node to Node: for these Node is
 * asked about a place that is none, and says what it always says.
 * @param original Node's asynchronous form
 */
export function statAtOnce(now: AnyFunction, original: Act): Act {
  const plain = atOnce(now);
  return (args, told) => {
    const options = optionsOf(args[1]);
    const toldByNode = (): void =>
      original(["", options], (error, value) => told(asWritten(error, "", args[0] as string), value));
    if (options?.["signal"] !== undefined && isStopped(options["signal"])) toldByNode();
    else
      plain(args, (error, value) => {
        if (error === null && value === undefined) toldByNode();
        else told(error, value);
      });
  };
}

const ended = getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")?.get as () => boolean;

function isStopped(signal: unknown): boolean {
  try {
    return apply(ended, signal, []);
  } catch {
    // WHY: what is no signal Node refuses, or takes for one by its name.
    return true;
  }
}

/** What became of a call, told to a callback as Node tells it. */
export function toldTo(callback: (error: unknown, ...values: unknown[]) => void): Told {
  return (error, value) => {
    if (error !== null && error !== undefined) callback(error);
    else if (value === undefined) callback(null);
    else callback(null, value);
  };
}
