// @ts-check
/** Purpose: whole programs, bare and in each trap set, taking turns: what trapping costs where people would notice. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../../tools/setup.mjs";
import { inTurns } from "../../service/sampling.mjs";
import { confining, countStopped, runBare, workFolder } from "../confined.mjs";

/**
 * @typedef {object} Program
 * @property {Record<string, import("../../service/sampling.mjs").Figure>} figures by kind
 * @property {Record<string, number>} stopped how many of its calls stop, by trap set
 */
/** @typedef {Record<string, Program>} Programs by name */

const TSC = join(root, "node_modules", "@typescript", `typescript-linux-${process.arch}`, "lib", "tsc");
const TRAP_SETS = /** @type {const} */ (["none", "writes", "all"]);

/** @param {{ rounds: number, files: number }} options @returns {Promise<Programs>} */
export async function run({ rounds, files }) {
  const folder = workFolder();
  for (let index = 0; index < files; index++) {
    mkdirSync(join(folder, `d${index % 40}`), { recursive: true });
    writeFileSync(
      join(folder, `d${index % 40}`, `f${index}.ts`),
      `export const n${index}: number = ${index};\n`,
    );
  }
  const names = Array.from({ length: Math.min(files, 100) }, (_, index) => `d${index % 40}/f${index}.ts`);
  execFileSync("git", ["init", "-q", folder]);
  execFileSync("git", ["-C", folder, "add", "."]);
  execFileSync("git", ["-C", folder, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "all"]);
  const programs = {
    "git status": ["/usr/bin/git", "status", "--short"],
    "git grep": ["/usr/bin/git", "grep", "-c", "number"],
    tsc: [TSC, "--noEmit", "--types", "", ...names],
  };
  /** @type {Programs} */
  const findings = {};
  for (const [name, [command = "", ...args]] of Object.entries(programs)) {
    /** @type {Record<string, () => unknown>} */
    const kinds = { bare: () => runBare(command, args, folder) };
    /** @type {Record<string, number>} */
    const stopped = {};
    for (const trapSet of TRAP_SETS) {
      const options = { trapSet, folders: [folder, dirname(TSC)] };
      const runConfined = confining(options);
      kinds[trapSet] = () => runConfined(command, args, folder);
      stopped[trapSet] = await countStopped(options, [command, ...args], folder);
    }
    findings[name] = { figures: await inTurns(kinds, { rounds, calls: 1 }), stopped };
  }
  return findings;
}
