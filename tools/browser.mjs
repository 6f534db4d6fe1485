// @ts-check
/**
 * Purpose: a real browser for tests and screenshots on a machine that has none: pinned, from the npm registry into the
 * cache folder, without root. `SALLYPORT_CHROMIUM` names a program of one's own instead.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { obtainPackage } from "./cached-package.mjs";
import { cacheFolder } from "./setup.mjs";

const PLAYWRIGHT = "1.65.0";
const CHROMIUM = "153.0.0";
const AXE = "4.14.0";
const EXECUTABLE = 0o755;

/** @typedef {{ newContext(options?: object): Promise<any>, close(): Promise<void> }} Browser */

/** @returns {Promise<Browser>} a chromium without a window, as playwright drives it */
export async function launchBrowser() {
  const playwright = await obtainPackage("playwright-core", PLAYWRIGHT);
  const { chromium } = createRequire(join(playwright, "package.json"))(playwright);
  const { program, env } = await obtainChromium();
  return chromium.launch({
    executablePath: program,
    // WHY: chromium refuses its own sandbox as root and inside most containers; only our own pages are opened.
    args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none", "--headless=new"],
    env: { ...process.env, ...env },
  });
}

/** @returns {Promise<string>} the source of axe-core, to be run inside a page */
export async function axeSource() {
  return readFileSync(join(await obtainPackage("axe-core", AXE), "axe.min.js"), "utf8");
}

/** @returns {Promise<{ program: string, env: Record<string, string> }>} the program, and what it needs around it */
export async function obtainChromium() {
  const own = process.env["SALLYPORT_CHROMIUM"];
  if (own) return { program: own, env: {} };
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(
      `no pinned chromium for \`${process.platform}-${process.arch}\`: install one and name it in \`SALLYPORT_CHROMIUM\``,
    );
  }
  const folder = join(cacheFolder(), `chromium-${CHROMIUM}-unpacked`);
  if (!existsSync(folder)) await unpackChromium(folder);
  return {
    program: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_FILE: join(folder, "fonts.conf") },
  };
}

/** Unpacks beside its place and renames: the folder appears whole or not at all. @param {string} folder */
async function unpackChromium(folder) {
  const packed = await obtainPackage("@sparticuz/chromium", CHROMIUM);
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, "chromium"), inflated(packed, "chromium.br"), { mode: EXECUTABLE });
  for (const name of ["al2023.tar.br", "fonts.tar.br", "swiftshader.tar.br"])
    await untar(inflated(packed, name), draft);
  chmodSync(join(draft, "chromium"), EXECUTABLE);
  // WHY: without a font every text is 0 wide, and the contrast check finds nothing without saying so.
  writeFileSync(
    join(draft, "fonts.conf"),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
  );
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been first; its copy is as good.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** @param {string} packed @param {string} name */
const inflated = (packed, name) => brotliDecompressSync(readFileSync(join(packed, "bin", name)));

/** @param {Buffer} archive @param {string} folder @returns {Promise<void>} */
function untar(archive, folder) {
  return new Promise((resolve, reject) => {
    const child = spawn("tar", ["-x", "-C", folder], { stdio: ["pipe", "ignore", "inherit"] });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`could not unpack chromium (tar ended with ${code})`)),
    );
    child.stdin.end(archive);
  });
}
