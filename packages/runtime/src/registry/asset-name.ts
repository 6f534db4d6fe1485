/**
 * Whose a name is. An asset is named `<module>.<asset>`: all before the last dot is the name of the module that may
 * register it, so `demo.read_file` is of `demo` and of nobody else, whatever is registered first.
 * `mcp` and `local` are kept for `tool:mcp.<server>` and `tool:local.<digest>`: no module has such a name.
 */
import { type Subject, subjectLabel } from "@sallyport/contract";
import { type RegistryRefusal, refusal } from "./registry-answer.ts";

export const MCP_PREFIX = "mcp.";
export const LOCAL_PREFIX = "local.";

const RESERVED = [MCP_PREFIX, LOCAL_PREFIX] as const;

/** Why a module may not have its name. */
export function moduleNameFault(module: Subject): RegistryRefusal | undefined {
  const taken = RESERVED.find((prefix) => `${module.name}.`.startsWith(prefix));
  if (taken === undefined) return undefined;
  return refusal(
    "name_not_owned",
    `names that begin with \`${taken}\` are Sallyport's own: give the module another name`,
  );
}

/** Why an asset may not have its name. */
export function assetNameFault(asset: Subject, module: Subject): RegistryRefusal | undefined {
  const dot = asset.name.lastIndexOf(".");
  const isOwned = dot > 0 && dot < asset.name.length - 1 && asset.name.slice(0, dot) === module.name;
  if (isOwned) return undefined;
  return refusal(
    "name_not_owned",
    `\`${subjectLabel(asset)}\` cannot be registered by \`${subjectLabel(module)}\`: name it \`${module.name}.\` and one name without a dot`,
  );
}
