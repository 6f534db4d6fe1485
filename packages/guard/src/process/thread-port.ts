/**
 * The native objects below threads. Whoever has a thread has its native object, and with it a class that starts threads
 * without a guard; so that class is taken away before the program runs. What a thread is told first goes through functions
 * that the program can replace; so the gate is put to it below them, where the native port is written to.
 * INVARIANT: the gate of a thread is in no object that the program could see, and a thread is told once what to load.
 */
import workerThreads, { type MessagePort, type Worker } from "node:worker_threads";
import { refusedError } from "../blocked-call.ts";
import {
  append,
  apply,
  bare,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isSymbolOf,
  ownKeys,
  put,
} from "../captured.ts";
import { refuseConstructor } from "../refused/native-constructors.ts";
import { refusing } from "../refused/refused-exports.ts";
import { replaceExport } from "../replace-export.ts";

/** What a thread finds before its guard hands on what it was given. */
export interface ThreadStart {
  readonly sallyportGate: MessagePort;
  /** The descriptor of the process's own gate: no thread of it may use it. */
  readonly sallyportGateFd: number;
  readonly sallyportFacts: string;
  /** A thread is part of this process: it has the same sensitive imports. */
  readonly sallyportImports: readonly string[];
  readonly data: unknown;
}

/** Of Node: what the thread is told to load. */
const LOAD = "loadScript";
/** Of Node, without the way for its own threads, which carry no guard. */
const KINDS: readonly unknown[] = Object.freeze([false, "classic", "module", "data-url"]);
const MEMORY = "it hands out the memory of the guard";

/** A thread that was not told yet what to load has a start; it is used up then. */
interface Told {
  start: ThreadStart | undefined;
}

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
const ports = new WeakMap<object, Told>();
/** Of the thread that is being made. */
let next: ThreadStart | undefined;

/** Makes a thread, which gets this start. */
export function startingThread<R>(start: ThreadStart, work: () => R): R {
  const before = next;
  next = start;
  try {
    return work();
  } finally {
    next = before;
  }
}

/**
 * Before the program runs.
 * @param shown a thread of the guard's own, which shows the native class
 * @throws TypeError where this Node makes its threads in another way
 */
export function guardThreadPorts(shown: Worker): void {
  const native = nativeOf(shown);
  const prototype = native === undefined ? null : getPrototypeOf(native);
  if (prototype === null || !hasOwn(prototype, "startThread"))
    throw new TypeError(
      "this Node starts threads in a way that the guard does not know: use a supported one",
    );
  refuseConstructor(prototype, "Worker", "a thread is started by `Worker` alone");
  for (const name of ["takeHeapSnapshot", "startHeapProfile", "stopHeapProfile"])
    replaceExport(prototype, name, () => refusing(`Worker.${name}`, MEMORY));
  defineProperty(prototype, "messagePort", bare({ set: keepPort, configurable: false, enumerable: false }));
  replaceExport(
    workerThreads.MessagePort.prototype,
    "postMessage",
    (original) =>
      function postMessage(this: object, ...args: unknown[]) {
        const told = apply(get, ports, [this]) as Told | undefined;
        const own = told === undefined ? args : toldArguments(told, args);
        return own === undefined ? undefined : apply(original, this, own);
      },
  );
}

/** WHY: Node puts the port on the native object when that is made, and nobody else has either by then. */
function keepPort(this: object, port: unknown): void {
  put(this, "messagePort", port);
  if (next !== undefined && typeof port === "object" && port !== null)
    apply(set, ports, [port, bare({ start: next })]);
  next = undefined;
}

function nativeOf(worker: object): object | undefined {
  const keys = ownKeys(worker);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (isSymbolOf(key, "kHandle")) return getOwnPropertyDescriptor(worker, key)?.value as object | undefined;
  }
  return undefined;
}

/**
 * @returns `undefined` for what a thread is not told before it was told what to load: nobody waits for that
 * @throws ExternalAccessError for what Node does not tell a thread of its public class
 */
function toldArguments(told: Told, args: readonly unknown[]): unknown[] | undefined {
  const message = copied(args[0]);
  const { start } = told;
  const isLoad = message["type"] === LOAD;
  if (!isLoad) return start === undefined ? [message, args[1]] : undefined;
  // WHY first: what is refused once is never told.
  told.start = undefined;
  if (start === undefined) throw refused();
  const { doEval } = message;
  let isKnown = false;
  for (let index = 0; index < KINDS.length; index++) isKnown ||= KINDS[index] === doEval;
  if (!isKnown) throw refused();
  put(message, "isInternal", false);
  const data = message["workerData"];
  put(message, "workerData", bare({ ...start, data }));
  return [message, withPort(args[1], start.sallyportGate)];
}

function refused(): Error {
  return refusedError("a thread is told what to load by `Worker` alone", bare({ syscall: "Worker" }));
}

/** Read once. */
function copied(value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = bare({});
  if (typeof value !== "object" || value === null) return copy;
  const keys = ownKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (typeof key === "string") put(copy, key, (value as Record<string, unknown>)[key]);
  }
  return copy;
}

function withPort(list: unknown, port: MessagePort): unknown[] {
  const own: unknown[] = [];
  if (Array.isArray(list)) for (let index = 0; index < list.length; index++) append(own, list[index]);
  append(own, port);
  return own;
}
