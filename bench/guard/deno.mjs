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

/** @returns {Promise<string | undefined>} the program; `undefined` where there is none for this machine */
export async function obtainDeno() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  return name === undefined ? undefined : join(await obtainPackage(name, VERSION), "deno");
}
