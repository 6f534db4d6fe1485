/**
 * What the profile compiler wants to know of this host's files: real paths of the system's places, of programs by name,
 * and what is where. Reads only; a place that is not there is left out.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_FOLDERS } from "@sallyport/contract";
import type { ProfileInput } from "./profile/compile-profile.ts";
import { SECRET_PLACES, SYSTEM_FILES, SYSTEM_TREES } from "./profile/system-place.ts";

export interface HostPlaces {
  /** Whose secrets are masked; absent: nobody's. */
  readonly home?: string | undefined;
  /** Folders of host code beside the system's own, such as that of Node. */
  readonly codeRoots?: readonly string[] | undefined;
}

type Looked = Pick<ProfileInput, "systemReads" | "programPaths" | "kindOf" | "secretPlaces">;

export function lookAtHost({ home, codeRoots = [] }: HostPlaces): Looked {
  const trees = codeRoots.map((root) => (root.endsWith("/") ? root : `${root}/`));
  const reads = [...SYSTEM_TREES, ...SYSTEM_FILES, ...trees].flatMap(realTarget);
  const secrets = home === undefined ? [] : SECRET_PLACES.map((place) => join(home, place));
  return {
    systemReads: [...new Set(reads)],
    programPaths: (name) => [...new Set(SYSTEM_FOLDERS.flatMap((folder) => realTarget(join(folder, name))))],
    kindOf,
    secretPlaces: secrets.filter((place) => existsSync(place)).map((place) => realpathSync(place)),
  };
}

function kindOf(path: string): "directory" | "file" | "missing" {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return "missing";
  return facts.isDirectory() ? "directory" : "file";
}

/** The real path in the spelling of a pattern; none where nothing is there. */
function realTarget(target: string): readonly string[] {
  const isTree = target.endsWith("/");
  try {
    const real = realpathSync(target);
    return [isTree && real !== "/" ? `${real}/` : real];
  } catch {
    return [];
  }
}
