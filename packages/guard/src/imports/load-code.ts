/**
 * Loading code. From a code root it is exempt; any other file that is loaded as code is a read. CommonJS goes through
 * `fs.readFileSync`, which is guarded already and only has to know what is exempt. ES modules are decided
 * by a hook of the loader from Node 22 on. Node 20 has none: there the loader calls `readFile` or `readFileSync` with a URL
 * and nothing else, and a call of that form is taken for loading where it names code.
 */
import Module from "node:module";
import vm from "node:vm";
import { realPath } from "@sallyport/gate";
import { filePart } from "../access-part.ts";
import { apply, bare, beginsWith, put, quietly } from "../captured.ts";
import { type Ground, isCode } from "../ground.ts";
import { isPlace, placeOf } from "../fs/place-of.ts";
import { guardPackages } from "./read-package.ts";
import { refuseImport } from "./sensitive-import.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- functions of any signature are wrapped
type AnyFunction = (...args: any[]) => unknown;
type NextLoad = (url: string, context?: object) => unknown;
type NextResolve = (specifier: string, context?: object) => unknown;

const NativeUrl = URL;
const LOADED = Object.freeze([".js", ".json", ".cjs", ".mjs"]);

interface LoaderModule {
  readonly _extensions: Record<string, AnyFunction>;
  readonly registerHooks?: (hooks: { readonly load: unknown; readonly resolve: unknown }) => unknown;
}

function hasHooks(): boolean {
  return typeof (Module as unknown as LoaderModule).registerHooks === "function";
}

/** Node 20: whether a call of `readFile` or `readFileSync` is the loader's, and for code. */
export function isImport(codeRoots: readonly string[], args: readonly unknown[]): boolean {
  if (hasHooks() || args.length !== 1 || typeof args[0] !== "object") return false;
  const place = placeOf(args[0], "follow", "open");
  return isPlace(place) && isCode({ codeRoots }, place.path);
}

/**
 * WHY: Node loads the part that reads ES modules when the first one is imported, and takes what `fs` holds then. It must
 * hold Node's own functions, because what is loaded is decided by the hook or the binding, and exempt for code roots.
 */
export function warmLoader(): void {
  if (!hasHooks()) return;
  const loaded = (process as unknown as { readonly moduleLoadList: readonly string[] }).moduleLoadList;
  if (loaded.includes("NativeModule internal/modules/esm/load")) return;
  quietly(() => {
    const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    const imported = vm.runInThisContext(`import("data:text/javascript,")`, {
      importModuleDynamically,
    }) as Promise<unknown>;
    imported.catch(() => undefined);
    (process as unknown as { _tickCallback(): void })._tickCallback();
  });
  if (!loaded.includes("NativeModule internal/modules/esm/load"))
    throw new TypeError("this Node loads modules in a way that the guard does not know: use a supported one");
}

export function installLoading(ground: Ground): void {
  guardPackages(ground);
  const loader = Module as unknown as LoaderModule;
  for (const extension of LOADED) {
    const original = loader._extensions[extension];
    if (original !== undefined) put(loader._extensions, extension, codeLoader(ground, original));
  }
  loader.registerHooks?.({
    load: (url: string, context: object, next: NextLoad) => {
      // WHY: some Nodes read what is loaded by `fs.readFileSync`, after this decision.
      ground.loading.expectCode(requireLoadable(ground, url));
      try {
        return next(url, context);
      } finally {
        ground.loading.expectCode(undefined);
      }
    },
    resolve: (specifier: string, context: object, next: NextResolve) => {
      refuseImport(ground.imports, specifier);
      return next(specifier, context);
    },
  });
}

/** Loads one file of CommonJS; what it reads first is this file. */
function codeLoader(ground: Ground, original: AnyFunction): AnyFunction {
  return function load(this: unknown, ...args: unknown[]): unknown {
    const filename = args[1];
    if (typeof filename === "string" && realPath(filename, "follow") === filename && isCode(ground, filename))
      ground.loading.expectCode(filename);
    return apply(original, this, args);
  };
}

/**
 * The real path of a file that may be loaded; `undefined` for what is no file.
 * @throws ExternalAccessError where the file may not be read
 */
function requireLoadable(ground: Ground, url: string): string | undefined {
  if (!beginsWith(url, "file:")) return undefined;
  const place = placeOf(new NativeUrl(url), "follow", "open");
  if (!isPlace(place)) return undefined;
  if (!isCode(ground, place.path))
    ground.decider.now([filePart("read", place)], bare({ syscall: "open", path: place.requested }));
  return place.path;
}
