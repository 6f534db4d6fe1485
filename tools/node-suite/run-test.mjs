// @ts-check
/** Purpose: one of Node's own tests, run to its end or to a limit, and what became of it. */
import { mkdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** @typedef {{ outcome: "passed" | "skipped" | "failed", said: string }} Ended */
/** @typedef {import("node:child_process").ChildProcess} ChildProcess */

const SAID_MAX = 20_000;

/** What the test wants Node to be started with. @param {string} file */
export async function flagsOf(file) {
  const text = await readFile(file, "utf8");
  const [, line = ""] = /^\/\/ Flags:(.*)$/m.exec(text) ?? [];
  return line.trim().split(/\s+/).filter(Boolean);
}

/** A folder of its own for what a test writes. @param {string} folder @param {string} lane */
export function testFolder(folder, lane) {
  const own = join(folder, `lane-${lane}`);
  rmSync(own, { recursive: true, force: true });
  mkdirSync(own, { recursive: true });
  return { NODE_TEST_DIR: own, TEST_THREAD_ID: lane };
}

/** @param {ChildProcess} child @param {number} limitMs @returns {Promise<Ended>} */
export async function endOf(child, limitMs) {
  let said = "";
  /** @param {Buffer} chunk */
  const hear = (chunk) => (said = `${said}${chunk.toString()}`.slice(-SAID_MAX));
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, limitMs);
  const code = await new Promise((resolve) => {
    child.once("error", () => resolve(1));
    child.once("exit", (exitCode) => resolve(exitCode ?? 1));
  });
  clearTimeout(timer);
  if (isLate) return { outcome: "failed", said: `${said}\nit did not end in time` };
  if (code !== 0) return { outcome: "failed", said };
  return { outcome: /^1\.\.0 # Skipped/m.test(said) ? "skipped" : "passed", said };
}
