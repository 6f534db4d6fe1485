/**
 * Modules of Node that are guarded when Node has loaded them, before whoever wanted them has them: the program, by any way
 * there is, or Node itself. Node writes each module that it has loaded into a list, which the guard alone holds from here
 * on, and hears what is written there. So a program that does not use them does not wait for them.
 * INVARIANT: only for modules whose guards open what is closed without them. Foreign code can see to it that none is called
 * (by leaving no room on the stack); then a module stays as Node made it, and what it dials is network connect.
 */
import Module from "node:module";
import process from "node:process";
import { append, bare, defineProperty, getOwnPropertyDescriptor, hasOwn, put, slice } from "./captured.ts";

type Guard = (exports: object) => void;

// oxlint-disable-next-line typescript/unbound-method -- it asks nothing of its receiver
const { getBuiltinModule } = process;
const { syncBuiltinESMExports: syncExports } = Module;
const { deleteProperty, setPrototypeOf } = Reflect;
const WRITTEN = "NativeModule ";
/** Loaded to see whether it is heard: small, and loaded by nobody else. */
const PROBE = "path/posix";

/** By what Node writes. */
const awaited = bare<Record<string, readonly Guard[]>>({});
/** Node's own list; none where what is written there cannot be heard. */
let heard: readonly string[] | undefined;

/** To be called once, before the program runs. What cannot be heard is loaded, and guarded, at once. */
export function hearLoads(): void {
  const property = getOwnPropertyDescriptor(process, "moduleLoadList");
  const list = property?.value as string[] | undefined;
  if (property?.configurable !== true || !Array.isArray(list) || list.includes(WRITTEN + PROBE)) return;
  // WHY the prototype: Node pushes, which makes an element that is not there yet, and for that a prototype is asked.
  setPrototypeOf(list, new Proxy(Array.prototype, bare({ set: written })));
  let probed: unknown;
  put(awaited, WRITTEN + PROBE, [(exports: object) => void (probed = exports)]);
  if (getBuiltinModule(PROBE) === probed) heard = list;
  const { enumerable = true } = property;
  defineProperty(
    process,
    "moduleLoadList",
    bare({ get: () => copied(list), enumerable, configurable: true }),
  );
}

/**
 * Calls `guard` once with what the module exports: now where it is loaded already. Before the program runs.
 * @param name the module that everybody uses
 * @param inner a part of it that is a module too, and exports the same; it may be loaded first, or alone
 */
export function whenLoaded(name: string, guard: Guard, inner: string = name): void {
  const isLoaded = heard === undefined || heard.includes(WRITTEN + name) || heard.includes(WRITTEN + inner);
  if (isLoaded) {
    guard(getBuiltinModule(name) as unknown as object);
    return;
  }
  let isGuarded = false;
  const once: Guard = (exports) => {
    if (!isGuarded) guard(exports);
    isGuarded = true;
  };
  awaits(name, once);
  if (inner !== name) awaits(inner, once);
}

function awaits(name: string, guard: Guard): void {
  put(awaited, WRITTEN + name, [...(awaited[WRITTEN + name] ?? []), guard]);
}

function written(_: unknown, key: PropertyKey, entry: unknown, list: object): true {
  put(list, key, entry);
  if (typeof entry !== "string" || !hasOwn(awaited, entry)) return true;
  const guards = awaited[entry] as readonly Guard[];
  // WHY first: Node writes it once, and what is asked for below is there.
  deleteProperty(awaited, entry);
  const exports = getBuiltinModule(slice(entry, WRITTEN.length)) as unknown as object;
  for (let index = 0; index < guards.length; index++) (guards[index] as Guard)(exports);
  syncExports();
  return true;
}

/** As the program sees it. */
function copied(list: readonly string[]): readonly string[] {
  const copy: string[] = [];
  for (let index = 0; index < list.length; index++) append(copy, list[index] as string);
  return copy;
}
