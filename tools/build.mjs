// @ts-check
/** Purpose: `npm run build`: compile every package, then make the self-contained realm file. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { heading } from "./paint.mjs";
import { bin, ensureInstalled, root, run } from "./setup.mjs";

/** @returns {Promise<number>} exit code */
export async function build() {
  await ensureInstalled();
  heading("build");
  const code = await run(bin("tsc"), ["-b"]);
  if (code !== 0) return code;
  const realm = join(root, "tools", "build-realm.mjs");
  if (existsSync(realm)) await (await import(pathToFileURL(realm).href)).buildRealm();
  return 0;
}

if (import.meta.filename === process.argv[1]) process.exitCode = await build();
