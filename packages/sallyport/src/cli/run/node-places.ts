/** Where Node itself and the guard are: code of the host, which every Node program reads before it begins. */
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { guardLaunch } from "@sallyport/guard";

export function nodePlaces(): readonly string[] {
  const [, preload = ""] = guardLaunch({ codeRoots: [] }).args;
  return [dirname(realpathSync(process.execPath)), dirname(preload)];
}
