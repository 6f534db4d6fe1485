/**
 * Sensitive imports: modules that hand out more than a rule can describe. The gate says which of them the subject's
 * manifest lists; a process that guarded code starts has none of them (SPEC section 3), and no approval changes that.
 * Of what is listed the functions are guarded elsewhere; what nobody could guard stays refused, listed or not.
 * The import itself is refused where Node lets us see it, and every function of the module is refused in any case, so that
 * it does not matter how somebody came by it.
 */
import Module from "node:module";
import { SENSITIVE_IMPORTS } from "@sallyport/contract";
import { type CallFacts, refusedError } from "../blocked-call.ts";
import {
  append,
  apply,
  bare,
  freeze,
  getOwnPropertyDescriptor,
  hasOwn,
  ownKeys,
  put,
  quietly,
} from "../captured.ts";
import type { Actor } from "../acting.ts";
import type { Ground, Imports } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- functions of any signature are wrapped
type AnyFunction = (...args: any[]) => unknown;

/** Every module name that is sensitive, with the name that a manifest lists. */
const NAMES: Readonly<Record<string, string>> = Object.freeze(
  bare(
    Object.fromEntries(
      Object.entries(SENSITIVE_IMPORTS).flatMap(([listed, names]) =>
        names.flatMap((name) => [
          [name, listed],
          [`node:${name}`, listed],
        ]),
      ),
    ),
  ),
);

/** @param listed by the process; a subject that it runs has of these what its own manifest lists */
export function openImports(
  listed: readonly string[],
  actor: () => Pick<Actor, "imports">,
  told: (listed: string) => void,
): Imports {
  const allowed = bare(Object.fromEntries(listed.map((name) => [name, true])));
  const allows = (name: string): boolean =>
    hasOwn(allowed, name) && !hasOwn(NEVER, name) && hasListed(actor().imports, name);
  return freeze(
    bare({
      get listed() {
        const own: string[] = [];
        for (let index = 0; index < listed.length; index++)
          if (allows(listed[index] as string)) append(own, listed[index] as string);
        return own;
      },
      allows,
      note: told,
    }),
  );
}

function hasListed(imports: Actor["imports"], name: string): boolean {
  if (imports === undefined) return true;
  for (let index = 0; index < imports.length; index++) if (imports[index] === name) return true;
  return false;
}

/** Refused, listed or not. */
const NEVER: Readonly<Record<string, string>> = freeze(
  bare({
    inspector: "a debugger reaches into the guard",
    ffi: "it calls native code without a file that could be decided on",
    sqlite: "it opens files by itself, and its language can open more",
  }),
);

/** @throws ExternalAccessError for a sensitive module that the subject's manifest does not list */
export function refuseImport(imports: Imports, specifier: unknown): void {
  if (typeof specifier !== "string") return;
  const listed: unknown = getOwnPropertyDescriptor(NAMES, specifier)?.value;
  if (typeof listed !== "string") return;
  if (imports.allows(listed)) {
    imports.note(listed);
    return;
  }
  throw refusedError(`importing \`${specifier}\` is refused: ${why(listed)}`, importing(specifier));
}

/**
 * For the functions of a listed module: whoever calls one must have it listed too, however it came by the function.
 * @throws ExternalAccessError
 */
export function requireListed(imports: Imports, listed: string): void {
  if (!imports.allows(listed))
    throw refusedError(`\`${listed}\` is refused: ${why(listed)}`, importing(listed));
}

function why(listed: string): string {
  const never: unknown = getOwnPropertyDescriptor(NEVER, listed)?.value;
  if (typeof never === "string") return `${never}; run it under the OS sandbox, without the guard`;
  return `it is not in the allowed imports of this subject (\`${listed}\`), and cannot be approved`;
}

function importing(path: string): CallFacts {
  return bare({ syscall: "import", path });
}

/** Modules whose loading says or does something by itself; their import is refused by the loader's hook. */
const NOT_LOADED = new Set(["sqlite", "ffi"]);

/** What Node keeps for `globalThis.module` where a program stands on the command line. */
const STAND_IN = freeze(bare({}));

export function installImports({ imports, hatchway }: Pick<Ground, "imports" | "hatchway">): void {
  // WHY: all of them are loaded before the first is changed, since they take functions from each other.
  const modules = quietly(sensitiveModules);
  for (const { exports, name, listed } of modules) refuseExports(imports, exports, name, listed);
  const loader = Module as unknown as Record<string, AnyFunction>;
  // WHY: with a program on the command line Node asks for `module` once before it runs; anything will do.
  let isAwaited = typeof (process as unknown as { readonly _eval?: unknown })._eval === "string";
  replaceExport(
    loader,
    "_load",
    (original) =>
      function load(this: unknown, ...args: unknown[]) {
        if (isAwaited && args[0] === "module") {
          isAwaited = false;
          return STAND_IN;
        }
        refuseImport(imports, args[0]);
        return apply(original, this, args);
      },
  );
  replaceExport(
    process,
    "getBuiltinModule",
    (original) =>
      function getBuiltinModule(...args: unknown[]) {
        const own = hatchway(args[0]);
        if (own !== undefined) return own.exports;
        refuseImport(imports, args[0]);
        return apply(original, process, args);
      },
  );
}

function sensitiveModules() {
  return Object.entries(SENSITIVE_IMPORTS).flatMap(([listed, names]: [string, readonly string[]]) =>
    names
      .filter((name) => !NOT_LOADED.has(name) && Module.isBuiltin(name))
      .map((name) => ({ exports: process.getBuiltinModule(name) as unknown as object, name, listed })),
  );
}

/** WHY: the loader itself uses these functions of its class. */
const KEPT_OF_MODULE = new Set([
  "Module",
  "_cache",
  "_extensions",
  "_findPath",
  "_initPaths",
  "_load",
  "_nodeModulePaths",
  "_preloadModules",
  "_resolveFilename",
  "_resolveLookupPaths",
  "isBuiltin",
  "prototype",
  "wrap",
  "_stat",
  "_readPackage",
  "runMain",
  "length",
  "name",
]);

/** WHY: `fetch` takes it from the module when it is first used; it only marks an object. */
const KEPT_OF_WORKERS = "markAsUncloneable";

/** Functions of a listed module that stay refused, with the reason. */
const STAY_REFUSED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  child_process: { _forkChild: "it takes over a descriptor of this process" },
  module: {
    enableCompileCache: "it writes files by itself",
    findPackageJSON: "it looks at files by itself: use `createRequire`",
    flushCompileCache: "it writes files by itself",
    register: "it starts a thread of loaders beside the guard",
    registerHooks: "hooks of the loader run in front of those of the guard",
  },
  worker_threads: {
    moveMessagePortToContext: "a port of another context sends what no guard has looked at",
  },
};

function refuseExports(imports: Imports, exports: object, name: string, listed: string): void {
  if (imports.allows(listed)) {
    for (const [key, reason] of Object.entries(STAY_REFUSED[name] ?? {}))
      replaceExport(exports, key, () => refusing(`${name}.${key}`, reason));
    return;
  }
  const keys = ownKeys(exports);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as PropertyKey;
    if (name === "module" && KEPT_OF_MODULE.has(String(key))) continue;
    if (name === "worker_threads" && key === KEPT_OF_WORKERS) continue;
    const value: unknown = getOwnPropertyDescriptor(exports, key)?.value;
    if (typeof value !== "function") continue;
    refuseMethods(value as AnyFunction, name, listed);
    replaceExport(exports, key, () => refusing(`${name}.${String(key)}`, why(listed)));
  }
}

/** Instances that somebody already has, and the class that their prototype leads to. */
function refuseMethods(value: AnyFunction, name: string, listed: string): void {
  const prototype = getOwnPropertyDescriptor(value, "prototype")?.value as object | undefined;
  if (prototype === undefined || prototype === null || name === "module") return;
  if (value.name === "ChildProcess") replaceExport(prototype, "spawn", () => refusing("spawn", why(listed)));
  if (value.name === "Worker")
    put(prototype, "constructor", refusing(`${name}.${value.name}`, why(listed)), false);
}

function refusing(name: string, reason: string): AnyFunction {
  return function refused() {
    throw refusedError(`\`${name}\` is refused: ${reason}`, importing(name));
  };
}
