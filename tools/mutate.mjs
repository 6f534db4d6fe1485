// @ts-check
/**
 * Purpose: `npm run mutate [-- STRYKER ARGS]`: mutation testing of the decision core.
 * Tests run from source, so nothing is built. Stryker lives in a folder of its own and finds the workspace's vitest above it.
 */
import { join } from "node:path";
import { ensureFolderInstalled, ensureInstalled, root, run } from "./setup.mjs";

const folder = join(root, "tools", "mutation");

/** @param {readonly string[]} args @returns {Promise<number>} exit code */
async function mutate(args) {
  await ensureInstalled();
  await ensureFolderInstalled(folder);
  const stryker = join(folder, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js");
  return run(process.execPath, [stryker, "run", "tools/mutation/stryker.config.json", ...args]);
}

process.exitCode = await mutate(process.argv.slice(2));
