/**
 * Carries one value through asynchronous code: an `AsyncLocalStorage` with everything that can be replaced on it taken
 * at import. Trusts nothing that it reads back: on every Node there are ways to put another value there, so the reader
 * must know its own values. Must never be handed out. See docs/discoveries/async-context.md.
 */
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import {
  apply,
  bare,
  construct,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isFrozen,
  ownKeys,
} from "./captured.ts";

export interface AsyncCarrier {
  /** Runs `fn` with the value; what it returns or throws passes through. */
  run<R>(value: object | undefined, fn: () => R): R;
  read(): unknown;
}

// WHY: the instance calls its own methods by name, so copies of all of them are put on it.
const Storage = AsyncLocalStorage;
const Resource = AsyncResource;
const METHOD_NAMES = ownKeys(Storage.prototype);
const METHODS = METHOD_NAMES.map((name) => bare(getOwnPropertyDescriptor(Storage.prototype, name) ?? {}));
const { run, getStore } = Storage.prototype as {
  run: (value: unknown, fn: () => unknown) => unknown;
  getStore: () => unknown;
};

export function openCarrier(): AsyncCarrier {
  // WHY: options without a prototype, since Node 24 would take a default value from a polluted one.
  const storage = construct(Storage, [bare({})]) as AsyncLocalStorage<object | undefined>;
  for (let index = 0; index < METHODS.length; index++) {
    const method = METHODS[index];
    if (method?.value !== undefined) defineProperty(storage, METHOD_NAMES[index] as PropertyKey, method);
  }
  const carrier: AsyncCarrier = {
    run: <R>(value: object | undefined, fn: () => R) => apply(run, storage, [value, fn]) as R,
    read: () => apply(getStore, storage, []),
  };
  prove(carrier);
  // INVARIANT: switched on by the proof, and from here on nobody can switch it off.
  freeze(storage);
  prove(carrier);
  return freeze(bare(carrier));
}

/** What was changed before this file was imported must not go unseen. */
function prove(carrier: AsyncCarrier): void {
  const probe = freeze(bare({}));
  const seen = carrier.run(probe, () => {
    freezeFrame(construct(Resource, ["sallyport"]));
    return carrier.read();
  });
  if (seen === probe && carrier.read() !== probe) return;
  throw new Error("`AsyncLocalStorage` was changed before Sallyport was loaded: load Sallyport first");
}

/**
 * From Node 24 on the values of all storages are kept in a map that hangs on every resource. Its class is closed, so
 * that nobody can answer for all of them by replacing a method. Older Nodes have no such map.
 */
function freezeFrame(resource: object): void {
  const keys = ownKeys(resource);
  for (let index = 0; index < keys.length; index++) {
    const held: unknown = (resource as Record<PropertyKey, unknown>)[keys[index] as PropertyKey];
    if (typeof held !== "object" || held === null) continue;
    const frameClass = classOf(held);
    if (frameClass === undefined) continue;
    freezeChain(getPrototypeOf(held));
    freezeChain(frameClass);
    return;
  }
}

function classOf(held: object): object | undefined {
  const prototype = getPrototypeOf(held);
  const named = prototype === null ? undefined : getOwnPropertyDescriptor(prototype, "constructor");
  const value: unknown = named?.value;
  return typeof value === "function" && value.name === "AsyncContextFrame" ? value : undefined;
}

/** Up to the first object that is closed already or belongs to everybody. */
function freezeChain(start: object | null): void {
  for (let link = start; link !== null && !isFrozen(link); link = getPrototypeOf(link)) {
    if (link === Map || link === Map.prototype || link === Object.prototype) return;
    if (link === Function.prototype) return;
    freeze(link);
  }
}
