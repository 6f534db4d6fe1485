// @ts-check
/**
 * Purpose: what the launcher takes from its own start to the end of `true`, with everything on and a description that is
 * ready, beside bwrap and a bare start, all by one small program in C. The library around it is the stage `spawn`.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSandbox } from "@sallyport/sandbox";
import { BWRAP_ABSENT, bwrapCommand } from "../bwrap.mjs";
import { compiled, said, workFolder } from "../confined.mjs";

/** @typedef {{ figures: Readonly<Record<string, number>>, absent: readonly string[] }} Started microseconds */

const TRUE = "/bin/true";
const OWN_ONLY = 0o755;

/** @param {{ rounds: number, calls: number }} options @returns {Promise<Started>} */
export async function run({ rounds, calls }) {
  const [folder, programs] = [workFolder(), workFolder()];
  const starter = join(programs, "starter");
  execFileSync("cc", ["-O2", "-o", starter, fileURLToPath(new URL("../starter.c", import.meta.url))]);
  const { launcher } = (await openSandbox()).facts;
  copyFileSync(launcher ?? "", join(programs, "launcher"));
  for (const program of [starter, join(programs, "launcher")]) chmodSync(program, OWN_ONLY);
  process.env["SALLYPORT_LAUNCHER"] = starter;
  const sandbox = await openSandbox();
  const bwrap = bwrapCommand(folder, TRUE);
  const kinds = ["launcher", "bare", ...(bwrap === undefined ? [] : ["bwrap"])];
  const { child } = sandbox.spawn(TRUE, [], {
    confinement: compiled(sandbox, { trapSet: "all", folders: [folder] }),
    decide: async () => "deny",
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const commands = [[TRUE], ...(bwrap === undefined ? [] : [bwrap])];
  child.stdin?.end([rounds, calls, ...commands.map((words) => `${words.join("\n")}\n`)].join("\n") + "\n");
  const times = (await said(child)).trim().split("\n").map(Number);
  const figures = Object.fromEntries(kinds.map((kind, index) => [kind, times[index] ?? Number.NaN]));
  return { figures, absent: bwrap === undefined ? [BWRAP_ABSENT] : [] };
}
