// @ts-check
/**
 * Purpose: dependency-cruiser finds and resolves every import of a tree; the rules are ours (rules.mjs).
 * Trusts dependency-cruiser for what it found, never for having looked: the caller counts the files.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readPackages } from "./workspace.mjs";

/**
 * @typedef {object} Import
 * @property {string} module the specifier as written
 * @property {string} resolved the file it leads to, relative to the tree
 * @property {boolean} coreModule
 * @property {boolean} couldNotResolve
 * @property {readonly { name: string }[]} [cycle] where following it leads back here
 *
 * @typedef {{ source: string, dependencies: readonly Import[] }} Module
 */

/** @param {string} tree @returns {Promise<Module[]>} */
export async function cruiseTree(tree) {
  // WHY: a name held in a variable, so that type checks pass before this folder's packages are installed.
  const library = "dependency-cruiser";
  const { cruise } = await import(library);
  const folders = readPackages(tree).map(({ folder }) => `packages/${folder}/src`);
  const result = await cruise(
    folders.filter((folder) => existsSync(join(tree, folder))),
    {
      baseDir: tree,
      tsPreCompilationDeps: true,
      detectProcessBuiltinModuleCalls: true,
      doNotFollow: { path: "(?:^|/)(?:node_modules|dist)/" },
      outputType: "json",
    },
    {
      conditionNames: ["source", "import", "node", "types", "default"],
      exportsFields: ["exports"],
      extensions: [".ts", ".tsx", ".mts", ".mjs", ".js", ".d.ts", ".json"],
      symlinks: true,
      bustTheCache: true,
    },
  );
  return JSON.parse(result.output).modules;
}
