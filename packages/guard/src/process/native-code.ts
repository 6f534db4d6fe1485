/**
 * Native add-ons and WASI, for subjects whose manifest lists them. An add-on is executed: decided as that, by its real
 * path. A WASI program gets no folders, since what it does in them nobody could decide.
 */
import { executePart } from "../access-part.ts";
import { invalidError, refusedError } from "../blocked-call.ts";
import { apply, bare, freeze, getPrototypeOf, ownKeys, put, quietly } from "../captured.ts";
import { requireForeign } from "../fs/descriptor-calls.ts";
import { isPlace, placeOf } from "../fs/place-of.ts";
import type { Ground } from "../ground.ts";
import { refuseConstructor } from "../refused/native-constructors.ts";
import { replaceExport } from "../replace-export.ts";

type Options = Record<string, unknown>;
// oxlint-disable-next-line typescript/no-explicit-any -- a class of any signature is wrapped
type AnyClass = new (...args: any[]) => object;

/** WHY: taken here, since to everybody else it is refused. */
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { dlopen: nativeDlopen } = process;

/** Once loaded, an add-on is outside of every guard: the OS sandbox is the wall. */
export function guardAddons(ground: Ground): void {
  const dlopen = (module: unknown, filename: unknown, flags: unknown): unknown => {
    const place = placeOf(filename, "follow", "dlopen");
    if (!isPlace(place))
      throw invalidError("an add-on is a path: hand over text", bare({ syscall: "dlopen" }));
    ground.imports.note("native_addons");
    ground.decider.now([executePart(place, undefined)], bare({ syscall: "dlopen", path: place.requested }));
    const args = typeof flags === "number" ? [module, place.path, flags] : [module, place.path];
    return apply(nativeDlopen, process, args as [object, string]);
  };
  replaceExport(process, "dlopen", () => dlopen);
}

/** As WASI numbers it. */
const SIGUSR1 = 10;
const STREAMS = freeze(["stdin", "stdout", "stderr"]);
const KEPT = freeze(["version", "args", "env", "returnOnExit"]);

export function guardWasi(ground: Ground, exports: object): void {
  replaceExport(exports, "WASI", (original) => {
    const Native = original as unknown as AnyClass;
    holdNative(Native);
    const guarded: AnyClass = new Proxy(Native, {
      construct: (_target, args: readonly unknown[]): object =>
        Reflect.construct(Native, [wasiOptions(ground, args[0])], Native),
    });
    put((Native as unknown as { readonly prototype: object }).prototype, "constructor", guarded, false);
    return guarded as never;
  });
}

/** WHY: it takes folders and descriptors that nobody has decided on. */
function holdNative(Native: AnyClass): void {
  const { wasiImport } = quietly(() => new Native({ version: "preview1" })) as {
    readonly wasiImport: object;
  };
  const native = getPrototypeOf(wasiImport) as object;
  refuseConstructor(native, "WASI", "use the class that `wasi` exports");
  replaceExport(
    native,
    "proc_raise",
    (original) =>
      function proc_raise(this: object, signal: unknown) {
        if (typeof signal !== "number" || signal === SIGUSR1)
          throw refusedError(
            "a signal that opens a debugger is refused to guarded code",
            bare({ syscall: "kill" }),
          );
        return apply(original, this, [signal]);
      },
  );
}

function wasiOptions(ground: Ground, given: unknown): Options {
  const options = (typeof given === "object" && given !== null ? given : {}) as Options;
  const own: Options = {};
  for (let index = 0; index < KEPT.length; index++) {
    const key = KEPT[index] as string;
    const value = options[key];
    if (value !== undefined) put(own, key, value);
  }
  for (let index = 0; index < STREAMS.length; index++) {
    const key = STREAMS[index] as string;
    const value = options[key];
    if (typeof value !== "number") continue;
    requireForeign(ground, value, "wasi");
    put(own, key, value);
  }
  const { preopens } = options;
  if (typeof preopens === "object" && preopens !== null && ownKeys(preopens).length > 0)
    throw refusedError(
      "a WASI program of guarded code gets no folders: what it does in them cannot be decided; leave out `preopens`",
      bare({ syscall: "wasi" }),
    );
  return own;
}
