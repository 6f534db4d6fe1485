/**
 * `Module._readPackage`: tells what stands in the `package.json` of any folder. The loader does not look it up there, and reads
 * by itself; for everybody else it is a read of that file, unless it is code.
 */
import Module from "node:module";
import { pathText } from "@sallyport/gate";
import { filePart } from "../access-part.ts";
import type { AnyFunction } from "../any-function.ts";
import { invalidError } from "../blocked-call.ts";
import { apply, bare, defineProperty, getOwnPropertyDescriptor } from "../captured.ts";
import { isPlace, placeOf } from "../fs/place-of.ts";
import { type Ground, isCode } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";

export function guardPackages(ground: Ground): void {
  const property = getOwnPropertyDescriptor(Module, "_readPackage");
  if (property?.get === undefined) {
    replaceExport(Module, "_readPackage", (original) => packageReader(ground, original));
    return;
  }
  const { get } = property;
  const native = apply(get, Module, []) as AnyFunction;
  const guarded = packageReader(ground, native);
  // WHY an accessor: what the program puts there is for the loader, and stays its own.
  const current = (): unknown => {
    const found: unknown = apply(get, Module, []);
    return found === native ? guarded : found;
  };
  defineProperty(Module, "_readPackage", bare({ ...property, get: current }));
}

function packageReader(ground: Ground, native: AnyFunction): AnyFunction {
  return (folder: unknown) => {
    const text = pathText(folder);
    if (text === undefined)
      throw invalidError("a package is a path: hand over text", bare({ syscall: "open" }));
    const place = placeOf(`${text}/package.json`, "follow", "open");
    if (isPlace(place) && !isCode(ground, place.path))
      ground.decider.now([filePart("read", place)], bare({ syscall: "open", path: place.requested }));
    return apply(native, Module, [text]);
  };
}
