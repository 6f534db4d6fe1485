// @ts-check
/**
 * Purpose: packages that only tests and pictures need: pinned, from the npm registry into the cache folder, never into a
 * package.json. No script of a package runs.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, capture } from "./setup.mjs";

/**
 * WHY one folder per package: a second install without saving into the same folder removes the first.
 * INVARIANT: the folder appears whole or not at all, also when several come for it at the same time.
 * @param {string} name @param {string} version @returns {Promise<string>} the folder of the package
 */
export async function obtainPackage(name, version) {
  const folder = join(cacheFolder(), `${name.replace(/^@/, "").replace("/", "-")}-${version}`);
  const held = join(folder, "node_modules", name);
  if (existsSync(held)) return held;
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const quiet = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  const command = ["install", "--prefix", draft, ...quiet, "--loglevel=error", `${name}@${version}`];
  try {
    const { code, output } = await capture("npm", command, { cwd: draft });
    if (code !== 0) throw new Error(`could not obtain \`${name}@${version}\`:\n${output}`);
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been first; its copy is as good.
    if (!existsSync(held)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return held;
}
