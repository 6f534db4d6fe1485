// @ts-check
/**
 * Purpose: hold the packages of a tree to the layer table.
 * `node tools/layers/check-layers.mjs [--json] [TREE]`; exit 1 where a rule is broken or a file was not checked.
 */
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ensureFolderInstalled, root } from "../setup.mjs";
import { cruiseTree } from "./cruise.mjs";
import { judgeCoverage, judgeImports, judgeManifests } from "./rules.mjs";
import { readPackages, sourceFiles } from "./workspace.mjs";

/** @param {string} tree @returns {Promise<{ files: number, violations: import("./rules.mjs").Violation[] }>} */
export async function checkLayers(tree) {
  const packages = readPackages(tree);
  const files = sourceFiles(tree);
  const modules = await cruiseTree(tree);
  return {
    files: files.length,
    violations: [
      ...judgeCoverage(modules, files),
      ...judgeManifests(packages),
      ...judgeImports(modules, packages),
    ],
  };
}

if (import.meta.filename === process.argv[1]) {
  const args = process.argv.slice(2);
  const tree = args.find((arg) => !arg.startsWith("--"));
  await ensureFolderInstalled(dirname(import.meta.filename));
  const { files, violations } = await checkLayers(realpathSync(resolve(tree ?? root)));
  if (args.includes("--json")) {
    console.log(JSON.stringify({ files, violations }, undefined, 2));
  } else {
    for (const { rule, where, message } of violations) console.log(`${where}  ${message}  [${rule}]`);
    console.log(`${files} source files, ${violations.length} violations`);
  }
  process.exitCode = violations.length === 0 ? 0 : 1;
}
