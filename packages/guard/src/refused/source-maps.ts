/**
 * Maps of sources. Where they are on, Node reads the files that a map names by itself, past its own exports, and tells lines of
 * them in errors: of any file, since a program says what stands in a map. So errors name places as they were run, whatever was
 * asked for; asking for maps does nothing.
 */
import Module from "node:module";
import process from "node:process";
import { apply } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";

export function holdSourceMaps(): void {
  // WHY: a flag may have turned them on.
  if (process.sourceMapsEnabled) process.setSourceMapsEnabled(false);
  keepOff(process, "setSourceMapsEnabled");
  keepOff(Module, "setSourceMapsSupport");
}

function keepOff(holder: object, name: string): void {
  replaceExport(
    holder,
    name,
    (original) =>
      function turn(isOn: unknown, options: unknown) {
        return isOn === true ? undefined : apply(original, holder, [isOn, options]);
      },
  );
}
