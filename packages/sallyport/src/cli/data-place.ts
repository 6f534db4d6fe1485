/** Where the data folder is. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { CommandLine, CommonOptions } from "./command-line.ts";

/** `--data`, else `SALLYPORT_DATA`, else `.sallyport` here. */
export function dataFolderOf(
  { env, cwd }: Pick<CommandLine, "env" | "cwd">,
  { data }: CommonOptions,
): string {
  const named = data ?? (env["SALLYPORT_DATA"] || ".sallyport");
  return named.startsWith("~/") ? join(homedir(), named.slice(2)) : resolve(cwd, named);
}
