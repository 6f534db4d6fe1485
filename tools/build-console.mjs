// @ts-check
/**
 * Purpose: the console's static files, built where what they are made of has changed. Safe beside another build: the folder
 * is made under another name and put into place whole.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { bin, capture, root } from "./setup.mjs";

const home = join(root, "packages", "console");
const web = join(home, "dist-web");
const STAMP = "built-from.txt";
/** What goes into the bundle. */
const SOURCES = ["console/src", "console/public", "client/src", "contract/src"];
const FILES = ["console/index.html", "console/vite.config.ts", "console/package.json"];

/** @returns {Promise<string>} the folder to be served */
export async function buildConsole() {
  const made = sourceHash();
  const stamp = join(web, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === made) return web;
  const draft = `${web}.${process.pid}`;
  const { code, output } = await capture(bin("vite"), ["build", "--outDir", draft, "--emptyOutDir"], {
    cwd: home,
    // WHY: a test run says `test`, and the libraries would then bring what helps to develop.
    env: { NODE_ENV: "production" },
  });
  if (code !== 0) throw new Error(`could not build the console:\n${output}`);
  writeFileSync(join(draft, STAMP), made);
  const old = `${draft}.old`;
  if (existsSync(web)) renameSync(web, old);
  renameSync(draft, web);
  rmSync(old, { recursive: true, force: true });
  return web;
}

function sourceHash() {
  const hash = createHash("sha256");
  const packages = join(root, "packages");
  const found = SOURCES.flatMap((folder) =>
    readdirSync(join(packages, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.test(?:-d)?\.ts$/.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
  );
  for (const file of [...found.toSorted(), ...FILES.map((name) => join(packages, name))])
    hash.update(relative(packages, file)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

if (import.meta.filename === process.argv[1]) await buildConsole();
