/**
 * Sensitive imports: modules that hand out more than a rule can describe. A process that was started for a subject has
 * none of them (SPEC section 3: a task subprocess starts with an empty list), and no approval changes that.
 * The import itself is refused where Node lets us see it, and every function of the module is refused in any case, so that
 * it does not matter how somebody came by it.
 */
import Module from "node:module";
import { SENSITIVE_IMPORTS } from "@sallyport/contract";
import { type CallFacts, refusedError } from "../blocked-call.ts";
import { apply, bare, getOwnPropertyDescriptor, ownKeys, put, quietly } from "../captured.ts";
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

/** @throws ExternalAccessError for a sensitive module */
export function refuseImport(specifier: unknown): void {
  if (typeof specifier !== "string") return;
  const listed: unknown = getOwnPropertyDescriptor(NAMES, specifier)?.value;
  if (typeof listed !== "string") return;
  throw refusedError(
    `importing \`${specifier}\` is refused: it is not in the allowed imports of this subject (\`${listed}\`), and cannot be approved`,
    importing(specifier),
  );
}

function importing(path: string): CallFacts {
  return bare({ syscall: "import", path });
}

/** Modules whose loading says or does something by itself; their import is refused by the loader's hook. */
const NOT_LOADED = new Set(["sqlite", "ffi"]);

export function installImports(): void {
  // WHY: all of them are loaded before the first is changed, since they take functions from each other.
  const modules = quietly(sensitiveModules);
  for (const { exports, name, listed } of modules) refuseExports(exports, name, listed);
  const loader = Module as unknown as Record<string, AnyFunction>;
  replaceExport(
    loader,
    "_load",
    (original) =>
      function load(this: unknown, ...args: unknown[]) {
        refuseImport(args[0]);
        return apply(original, this, args);
      },
  );
  replaceExport(
    process,
    "getBuiltinModule",
    (original) =>
      function getBuiltinModule(...args: unknown[]) {
        refuseImport(args[0]);
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

function refuseExports(exports: object, name: string, listed: string): void {
  const keys = ownKeys(exports);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as PropertyKey;
    if (name === "module" && KEPT_OF_MODULE.has(String(key))) continue;
    const value: unknown = getOwnPropertyDescriptor(exports, key)?.value;
    if (typeof value !== "function") continue;
    refuseMethods(value as AnyFunction, name, listed);
    replaceExport(exports, key, () => refusing(`${name}.${String(key)}`, listed));
  }
}

/** Instances that somebody already has, and the class that their prototype leads to. */
function refuseMethods(value: AnyFunction, name: string, listed: string): void {
  const prototype = getOwnPropertyDescriptor(value, "prototype")?.value as object | undefined;
  if (prototype === undefined || prototype === null || name === "module") return;
  if (value.name === "ChildProcess") replaceExport(prototype, "spawn", () => refusing("spawn", listed));
  if (getOwnPropertyDescriptor(prototype, "constructor")?.value === value && value.name === "Worker")
    put(prototype, "constructor", refusing(`${name}.${value.name}`, listed), false);
}

function refusing(name: string, listed: string): AnyFunction {
  return function refused() {
    throw refusedError(
      `\`${name}\` is refused: it is not in the allowed imports of this subject (\`${listed}\`), and cannot be approved`,
      bare({ syscall: "import", path: name }),
    );
  };
}
