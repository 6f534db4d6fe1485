// @ts-check
/**
 * Purpose: what a confined start costs a program in Node, from the call to the end of `true`, beside a bare one, bwrap and
 * `@anthropic-ai/sandbox-runtime`; kinds take turns.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { obtainPackage } from "../../../tools/cached-package.mjs";
import { inTurns } from "../../service/sampling.mjs";
import { BWRAP_ABSENT, bwrapCommand } from "../bwrap.mjs";
import { confining, runBare, workFolder } from "../confined.mjs";

/**
 * @typedef {Record<string, import("../../service/sampling.mjs").Figure>} Figures
 * @typedef {{ figures: Figures, absent: readonly string[] }} Spawned `absent`: what this machine does not have, and why
 */

const RUNTIME = /** @type {const} */ (["@anthropic-ai/sandbox-runtime", "0.0.78"]);
const TRUE = "/bin/true";

/** @param {{ rounds: number, calls: number }} options @returns {Promise<Spawned>} */
export async function run({ rounds, calls }) {
  const folder = workFolder();
  const absent = [];
  const runAll = confining({ trapSet: "all", folders: [folder] });
  const runNetwork = confining({ trapSet: "all", folders: [folder], hasNetwork: true });
  /** @type {Record<string, () => unknown>} */
  const kinds = {
    bare: () => runBare(TRUE, [], folder),
    confined: () => runAll(TRUE, [], folder),
    confinedWithGateway: () => runNetwork(TRUE, [], folder),
  };
  const [bwrap = "", ...words] = bwrapCommand(folder, TRUE) ?? [];
  if (bwrap === "") absent.push(BWRAP_ABSENT);
  else kinds["bwrap"] = () => runBare(bwrap, words, folder);
  const runtime = await sandboxRuntime(folder).catch((error) => {
    absent.push(`${RUNTIME.join("@")} does not run here: ${String(error?.message ?? error).split("\n")[0]}`);
    return undefined;
  });
  if (runtime !== undefined) kinds["sandboxRuntime"] = runtime.once;
  const figures = await inTurns(kinds, { rounds, calls });
  await runtime?.close();
  return { figures, absent };
}

/** As a library, which is its cheapest form: one set-up, then one wrapped command after another. @param {string} folder */
async function sandboxRuntime(folder) {
  const held = await obtainPackage(...RUNTIME);
  const { SandboxManager } = await import(pathToFileURL(join(held, "dist", "index.js")).href);
  await SandboxManager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [folder], denyWrite: [] },
  });
  const once = async () => {
    const command = await SandboxManager.wrapWithSandbox("true");
    const child = spawn(command, { shell: true, cwd: folder, stdio: "ignore" });
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`a wrapped command ended with ${code}`);
  };
  await once();
  return { once, close: () => SandboxManager.reset() };
}
