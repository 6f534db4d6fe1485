/**
 * A guarded file call before it is made: what has to pass, and the arguments that Node is given. Every argument is read
 * once, while the plan is made; from then on only the plan counts.
 */
import { type AccessPart, type Ending, type Place, filePart } from "../access-part.ts";
import type { CallFacts } from "../blocked-call.ts";
import { append, bare, freeze, put, withArgument } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { declaredPlace } from "./declared-place.ts";
import { letGo } from "./held-places.ts";
import { type NotAPath, isPlace, placeOf } from "./place-of.ts";

export interface CallPlan {
  readonly parts: readonly AccessPart[];
  /** Real paths instead of written ones, copies instead of objects. */
  readonly args: readonly unknown[];
  readonly facts: CallFacts;
  /** For errors and results: which real path stands for which written one. */
  readonly places: readonly Place[];
  readonly result?: ((value: unknown) => unknown) | undefined;
  /** Whether what was decided on is all that there is, beside the places; looked at where the call had to wait. */
  readonly isWhole?: (() => boolean) | undefined;
  /** Called when the call is over, however it ended. */
  readonly over?: (() => void) | undefined;
}

export interface PlannedCall {
  readonly ground: Ground;
  /** As Node names it in its errors. */
  readonly syscall: string;
}

/** Throws `ExternalAccessError` where the arguments mean nothing. */
export type Planner = (args: readonly unknown[], call: PlannedCall) => CallPlan;

/** Options that Node's file functions know. Others are dropped with the object that held them. */
const KNOWN = freeze([
  "bigint",
  "bufferSize",
  "encoding",
  "errorOnExist",
  "filter",
  "flag",
  "flush",
  "force",
  "interval",
  "maxRetries",
  "mode",
  "persistent",
  "preserveTimestamps",
  "recursive",
  "retryDelay",
  "signal",
  "throwIfNoEntry",
  "type",
  "verbatimSymlinks",
  "dereference",
  "withFileTypes",
  "maxQueue",
  "overflow",
  "ignore",
]);

export type Options = Readonly<Record<string, unknown>>;

/** A copy of the options, read once; `undefined` where there is no object. */
export function optionsOf(value: unknown): Options | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const copy = bare({});
  for (let index = 0; index < KNOWN.length; index++) {
    const key = KNOWN[index] as string;
    const option = (value as Options)[key];
    if (option !== undefined) put(copy, key, option);
  }
  return copy;
}

/** The arguments with the options at this place copied. */
export function withOptionsAt(args: readonly unknown[], at: number): readonly unknown[] {
  const options = optionsOf(args[at]);
  return options === undefined ? args : withArgument(args, at, options);
}

/** What Node's own validator shall judge: nothing that could be touched is left in it. */
export function forValidator(args: readonly unknown[], at: number, found: NotAPath, facts: CallFacts) {
  return freeze(
    bare({ parts: freeze([]), args: withArgument(args, at, found.argument), facts, places: freeze([]) }),
  ) as CallPlan;
}

/** A call with one path that is touched in one way. Its other arguments are values: a mode, an owner, a time. */
export function onePath(part: (place: Place) => AccessPart, ending: Ending): Planner {
  return (args, { syscall }) => {
    const place = placeOf(args[0], ending, syscall);
    if (!isPlace(place)) return forValidator(args, 0, place, bare({ syscall }));
    return planOf([part(place)], withArgument(args, 0, place.path), [place], syscall);
  };
}

const DECIDED = freeze<AccessPart[]>([]);

/** A call that looks at one path. What is declared is decided while the plan is made. */
export function oneLook(ending: Ending): Planner {
  const longWay = onePath(reads, ending);
  return (given, call) => {
    const args = withOptionsAt(given, 1);
    const place = lookedAt(call.ground, args[0]);
    if (place === undefined) return longWay(args, call);
    return planOf(DECIDED, withArgument(args, 0, place.path), [place], call.syscall);
  };
}

/** A place that was decided on from memory and looked at; `undefined` where the long way is needed. */
export function lookedAt(ground: Ground, input: unknown): Place | undefined {
  const path = declaredPlace(ground, input);
  if (path === undefined) return undefined;
  return bare({ path, requested: input as string, ending: "follow" as const, exists: true });
}

/** INVARIANT: nothing of the guard's own keeps a file that is removed. */
export function deletes(place: Place): AccessPart {
  letGo(place.path);
  return filePart("delete", place);
}

export function reads(place: Place): AccessPart {
  return filePart("read", place);
}

export function planOf(
  parts: readonly AccessPart[],
  args: readonly unknown[],
  places: readonly Place[],
  syscall: string,
  result?: CallPlan["result"],
): CallPlan {
  const facts = bare({ syscall, path: places[0]?.requested, dest: places[1]?.requested });
  return freeze(bare({ parts, args, facts, places, result }));
}

/** The arguments with nothing in the place of every path, for a call that Node refuses for another reason. */
export function blanked(args: readonly unknown[], paths: number): unknown[] {
  const copy: unknown[] = [];
  for (let index = 0; index < args.length; index++) append(copy, index < paths ? "" : args[index]);
  return copy;
}
