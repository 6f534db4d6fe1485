/**
 * An executable has two names: that of the program, and its path in a system directory. A denial or deny rule on either
 * blocks, so a check of one carries the other.
 */
import { accessSync, constants } from "node:fs";
import { type Access, type Fault, SYSTEM_FOLDERS, filesystem, systemDependency } from "@sallyport/contract";
import type { TargetPorts } from "./sdk-ground.ts";

export function twinOf(access: Access | Fault, { realPath }: TargetPorts): Access | undefined {
  if ("code" in access || access.operation !== "execute") return undefined;
  const twin =
    access.resourceType === "system_dependency"
      ? pathTwin(access.target.text, realPath)
      : nameTwin(access.target.text);
  return twin?.ok === true ? twin.value : undefined;
}

function pathTwin(name: string, realPath: TargetPorts["realPath"]) {
  for (const folder of SYSTEM_FOLDERS) {
    const path = `${folder}/${name}`;
    try {
      accessSync(path, constants.X_OK);
    } catch {
      continue;
    }
    const real = realPath(path, "follow");
    return real === undefined ? undefined : filesystem.execute(real);
  }
  return undefined;
}

function nameTwin(path: string) {
  const slash = path.lastIndexOf("/");
  const folder = path.slice(0, slash);
  return SYSTEM_FOLDERS.includes(folder) ? systemDependency.execute(path.slice(slash + 1)) : undefined;
}
