/**
 * Takes an error of a hardened realm, as if one had leaked, and tries everything that its holder could do with it.
 */
import vm from "node:vm";
import { NO_ANSWER, UNAVAILABLE } from "@sallyport/policy/realm";
import { capturedUrl } from "../captured-url.ts";
import { reachableFrom } from "./hostile-surroundings.ts";

export interface LeakReport {
  /** Objects of the realm that the error leads to. */
  readonly reached: number;
  readonly unfrozen: number;
  /** Ways to run code inside the realm that worked. */
  readonly ran: string[];
  /** Objects that the realm's own function took or touched. */
  readonly taken: number;
  readonly callSites: number;
  /** Functions and receivers that a stack trace gave away. */
  readonly givenAway: number;
}

export function attackLeakedError(script: string, seed: readonly [number, number]): LeakReport {
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
    codeGeneration: { strings: false, wasm: false },
  });
  const boot = new vm.Script(script).runInContext(context) as (...args: unknown[]) => unknown;
  const border = boot(capturedUrl, seed[0], seed[1]) as (...args: unknown[]) => unknown;
  const overflow = vm.runInContext(
    '"use strict";(function deep(text) { return deep(text) + 1; })',
    context,
  ) as (text: string) => void;
  const error = catchFrom(() => overflow("x")) as Error;
  if (error instanceof RangeError)
    throw new Error("the error is one of this realm: the test attacks nothing");
  const wrapped = (error.constructor.constructor as ObjectConstructor).prototype;
  const RealmObject = (Object.getPrototypeOf(wrapped) as object).constructor as ObjectConstructor;
  const found = [
    error,
    RealmObject("text"),
    RealmObject(1),
    RealmObject(Symbol("s")),
    RealmObject.entries({ a: 1 }),
    RealmObject("x").matchAll("x"),
  ];
  const iterator = found[4][Symbol.iterator]();
  found.push(
    iterator,
    RealmObject("x")[Symbol.iterator](),
    iterator.map?.(() => 0),
    iterator.constructor?.from?.({ next: () => 0 }),
  );
  const objects = reachableFrom(found, () => false).filter((object) => !isOurs.has(object));
  const own = new Set<object>(found);
  const unfrozen = objects.filter(
    (object) => !Object.isFrozen(object) && !own.has(object) && !isFresh(object),
  );
  return {
    reached: objects.length,
    unfrozen: unfrozen.length,
    ran: runCode(error, objects),
    taken: handOver(border),
    ...readStack(overflow),
  };
}

const isOurs = new Set(reachableFrom([globalThis], () => false));

/** Made by this attack just now, so freely its own: iterators, entries and the error's stack. */
function isFresh(object: object): boolean {
  return Array.isArray(object) || Object.prototype.toString.call(object).endsWith("Iterator]");
}

function runCode(error: Error, objects: readonly object[]): string[] {
  const ran: string[] = [];
  const constructors = objects.filter(
    (object): object is FunctionConstructor =>
      typeof object === "function" && object.name.endsWith("Function"),
  );
  for (const constructor of constructors) {
    for (const [way, attempt] of Object.entries({
      call: () => constructor("return 1"),
      construct: () => Reflect.construct(constructor, ["return 1"]),
      newTarget: () => Reflect.construct(constructor, ["return 1"], Function),
      own: () => Reflect.construct(Function, ["return 1"], constructor)(),
    })) {
      // WHY: `own` compiles in this realm, where that is allowed; it counts only if it ran in the other one.
      const result = catchFrom(attempt, "nothing");
      if (way !== "own" && typeof result === "function") ran.push(`${constructor.name} ${way}`);
    }
  }
  if (constructors.length === 0) ran.push("no function constructor was found: the test attacks nothing");
  const prototype = Object.getPrototypeOf(error) as Record<string, unknown>;
  for (const [way, attempt] of Object.entries({
    set: () => Reflect.set(prototype, "message", "changed"),
    define: () => Reflect.defineProperty(prototype, "toString", { value: () => "changed" }),
    delete: () => Reflect.deleteProperty(prototype, "message"),
    setPrototypeOf: () => Reflect.setPrototypeOf(prototype, {}),
  })) {
    if (catchFrom(attempt, false) === true) ran.push(way);
  }
  return ran;
}

/** Calls the realm's own function with an object in each place; counts answers other than a failure, and touches. */
function handOver(border: (...args: unknown[]) => unknown): number {
  let taken = 0;
  const touch = () => (taken++, "/");
  const trap = { toString: touch, valueOf: touch, [Symbol.toPrimitive]: touch };
  for (let op = 1; op <= 7; op++) {
    for (let position = 0; position < 7; position++) {
      const args: unknown[] = [op, 1, 3, "[]", 0, 0, ""];
      args[position] = trap;
      const failure = args[0] === 1 ? UNAVAILABLE : NO_ANSWER;
      if (border(...args) !== failure) taken++;
    }
  }
  return taken;
}

/** `Error.prepareStackTrace` of this realm sees the call sites of another realm's errors. */
function readStack(overflow: (text: string) => void): Pick<LeakReport, "callSites" | "givenAway"> {
  let [callSites, givenAway] = [0, 0];
  const before = Reflect.getOwnPropertyDescriptor(Error, "prepareStackTrace");
  Error.prepareStackTrace = (_, sites) => {
    for (const site of sites) {
      if (site.getFunctionName() !== "deep") continue;
      callSites++;
      if (site.getFunction() !== undefined || (site.getThis() ?? undefined) !== undefined) givenAway++;
    }
    return "";
  };
  void (catchFrom(() => overflow("x")) as Error).stack;
  if (before === undefined) Reflect.deleteProperty(Error, "prepareStackTrace");
  else Reflect.defineProperty(Error, "prepareStackTrace", before);
  return { callSites, givenAway };
}

function catchFrom(attempt: () => unknown, otherwise?: unknown): unknown {
  try {
    return attempt();
  } catch (error) {
    return otherwise ?? error;
  }
}
