/**
 * `process.chdir`: relative paths start from the working folder, and functions of Node that the guard does not see do
 * too; so going there is a read of the folder.
 */
import { filePart } from "../access-part.ts";
import { apply, bare } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { isPlace, placeOf } from "./place-of.ts";

export function installWorkingFolder({ decider }: Ground): void {
  replaceExport(process, "chdir", (original) => (folder: unknown) => {
    const place = placeOf(folder, "follow", "chdir");
    if (!isPlace(place)) return apply(original, process, [place.argument]);
    decider.now([filePart("read", place)], bare({ syscall: "chdir", path: place.requested }));
    return apply(original, process, [place.path]);
  });
}
