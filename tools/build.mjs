// @ts-check
/** Purpose: `npm run build`: compile every package, then make the self-contained files: the realm and the preload. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { heading } from "./paint.mjs";
import { bin, ensureInstalled, root, run } from "./setup.mjs";

/** What `tsc` takes to compile every package. WHY: the root solution also holds the tests; they are no part of a build. */
export const compileArgs = () => [
  "-b",
  ...readdirSync(join(root, "packages"))
    .map((folder) => join("packages", folder))
    .filter((folder) => existsSync(join(root, folder, "tsconfig.json"))),
];

/** @returns {Promise<number>} exit code */
export async function build() {
  await ensureInstalled();
  heading("build");
  const code = await run(bin("tsc"), compileArgs());
  if (code !== 0) return code;
  const realm = join(root, "tools", "build-realm.mjs");
  if (existsSync(realm)) await (await import(pathToFileURL(realm).href)).buildRealm();
  const guard = join(root, "tools", "build-guard.mjs");
  if (existsSync(guard)) await (await import(pathToFileURL(guard).href)).buildGuard();
  return 0;
}

if (import.meta.filename === process.argv[1]) process.exitCode = await build();
