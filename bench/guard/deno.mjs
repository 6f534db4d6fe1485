// @ts-check
/** Purpose: Deno from the npm registry, pinned, in the cache folder. Its package holds the program, so nothing installs it. */
import { join } from "node:path";
import { obtainPackage } from "../../tools/cached-package.mjs";

const VERSION = "2.9.6";
/** @type {Readonly<Record<string, string>>} */
const PACKAGES = Object.freeze({
  "linux-x64": "@deno/linux-x64-glibc",
  "linux-arm64": "@deno/linux-arm64-glibc",
});

/** @typedef {{ command: string } | { absent: string }} Deno the program, or why there is none */

/** @returns {Promise<Deno>} */
export async function obtainDeno() {
  const machine = `${process.platform}-${process.arch}`;
  const name = PACKAGES[machine];
  if (name === undefined) return { absent: `there is no package of it for ${machine}` };
  try {
    return { command: join(await obtainPackage(name, VERSION), "deno") };
  } catch (error) {
    return { absent: error instanceof Error ? error.message : String(error) };
  }
}
