// @ts-check
/**
 * Purpose: what every command does first, so that each works from a fresh clone with nothing installed.
 * Uses Node built-ins only: it runs before there is a node_modules.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { dim, duration, heading } from "./paint.mjs";

/**
 * @typedef {{ cwd?: string, env?: Record<string, string | undefined>, nodeBin?: string | undefined, stdout?: 1 | 2 }} RunOptions
 * `nodeBin` is the folder of the Node to use; it goes first on PATH so that child processes use it as well.
 */

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where other Nodes and other large tools are kept between runs. */
export function cacheFolder() {
  const { SALLYPORT_CACHE: own, XDG_CACHE_HOME: xdg } = process.env;
  if (own) return own;
  return join(xdg || join(homedir(), ".cache"), "sallyport");
}

/** The path of a command that a root devDependency installs. @param {string} name */
export const bin = (name) => join(root, "node_modules", ".bin", name);

/** @param {RunOptions} options */
function environment({ env, nodeBin }) {
  const merged = { ...process.env, ...env };
  // WHY: some tools colour their output whenever a CI variable is set; a log file is no terminal.
  if (!process.stdout.isTTY) merged["NO_COLOR"] ??= "1";
  if (nodeBin) merged["PATH"] = nodeBin + delimiter + (merged["PATH"] ?? "");
  return merged;
}

/**
 * Runs a command on this terminal.
 * @param {string} command @param {readonly string[]} args @param {RunOptions} [options]
 * @returns {Promise<number>} its exit code; 1 where it was killed or could not be started
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: environment(options),
      stdio: [0, options.stdout ?? 1, 2],
    });
    child.on("error", (error) => {
      console.error(`cannot start \`${command}\`: ${error.message}`);
      resolve(1);
    });
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/**
 * Runs a command and keeps what it prints.
 * @param {string} command @param {readonly string[]} args @param {RunOptions} [options]
 * @returns {Promise<{ code: number, stdout: string, output: string }>} `output` is stdout and stderr together
 */
export function capture(command, args, options = {}) {
  return new Promise((resolve) => {
    let stdout = "";
    let output = "";
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: environment(options),
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", (error) => {
      resolve({ code: 1, stdout, output: `${output}cannot start \`${command}\`: ${error.message}\n` });
    });
    child.on("close", (code) => {
      resolve({ code: code ?? 1, stdout, output: stripVTControlCharacters(output) });
    });
  });
}

/** Installs the root workspace where that is due. */
export const ensureInstalled = () => ensureFolderInstalled(root);

/**
 * Installs a folder that has a lock file of its own, unless what is installed already matches the lock.
 * @param {string} folder
 */
export async function ensureFolderInstalled(folder) {
  if (isInstalled(folder)) return;
  const started = performance.now();
  const name = relative(root, folder) || "the workspace";
  heading(`installing the dependencies of ${name} ${dim("(npm ci)")}`);
  const code = await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdout: 2,
  });
  if (code !== 0) {
    console.error(`could not install the dependencies of ${name}: run \`npm ci\` in it to see why`);
    process.exit(1);
  }
  writeFileSync(stampFile(folder), lockHash(folder));
  console.error(dim(`  installed in ${duration(performance.now() - started)}`));
}

/** @param {string} folder */
const stampFile = (folder) => join(folder, "node_modules", ".sallyport-lock-hash");

/** @param {string} folder */
const lockHash = (folder) =>
  createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");

/** @param {string} folder */
function isInstalled(folder) {
  const installed = join(folder, "node_modules", ".package-lock.json");
  if (!existsSync(installed)) return false;
  const stamp = stampFile(folder);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lockHash(folder)) return true;
  if (!holdsEverything(readPackages(installed), readPackages(join(folder, "package-lock.json"))))
    return false;
  writeFileSync(stamp, lockHash(folder));
  return true;
}

/** @typedef {Record<string, { version?: string, optional?: boolean, link?: boolean }>} LockedPackages */

/** @param {string} file @returns {LockedPackages} */
const readPackages = (file) => JSON.parse(readFileSync(file, "utf8")).packages ?? {};

/**
 * WHY: after an `npm install` by hand the stamp is old although everything is there; npm's own record tells.
 * @param {LockedPackages} installed @param {LockedPackages} locked
 */
function holdsEverything(installed, locked) {
  return Object.entries(locked).every(
    ([path, entry]) => path === "" || entry.optional || installed[path]?.version === entry.version,
  );
}
