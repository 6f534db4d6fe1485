/**
 * The preload: one self-contained file, the first `--require` of a process that was started for a subject. Opens the gate
 * that the process inherited, takes Node's functions, and puts guarded ones in their place before the program runs.
 * The process is whom its socket says, all of it: that subject is its root frame, so no callback loses it.
 * Must never let the program run where it cannot guard it: whatever goes wrong here ends the process.
 */
import { randomInt } from "node:crypto";
import Module from "node:module";
import { resolve } from "node:path";
import { isMainThread } from "node:worker_threads";
import { SyncGateClient, openPrivateRealm, realPath } from "@sallyport/gate";
import { freeze } from "./captured.ts";
import { openDecider } from "./decide-call.ts";
import { callSite } from "./evidence.ts";
import { startFault } from "./first-preload.ts";
import { installFs } from "./fs/install-fs.ts";
import { installWorkingFolder } from "./fs/working-folder.ts";
import { type Ground, openLoading } from "./ground.ts";
import { installLoading, isImport, warmLoader } from "./imports/load-code.ts";
import { installImports, openImports } from "./imports/sensitive-import.ts";
import { takeInheritance } from "./inherited-gate.ts";
import { leftToKernel } from "./left-to-kernel.ts";
import { installNetwork } from "./network/install-network.ts";
import { guardProcesses } from "./process/guard-processes.ts";
import { installNativeFiles } from "./refused/native-files.ts";
import { installRefused } from "./refused/refused-exports.ts";

/** Put in by the build. */
declare const REALM_SCRIPT: string;
declare const GATE_WORKER: string;

const SEED_END = 2 ** 32;
const EXIT_CODE = 78;

function openGround(): Ground {
  const { gate: inherited, gateFd, facts, imports: ofThread, factsText } = takeInheritance();
  const { codeRoots, waitMs, confined } = facts;
  const gate = SyncGateClient.open({
    gate: inherited,
    openRealm: () =>
      openPrivateRealm({ seed: [randomInt(SEED_END), randomInt(SEED_END)], script: REALM_SCRIPT }),
    worker: GATE_WORKER,
  });
  // WHY: what was declared and done is told in batches, and the last one is not lost.
  process.once("exit", () => gate.drain());
  const roots = freeze(codeRoots.flatMap((root) => realPath(root, "follow") ?? []));
  const { imports, evidence } = gate.terms;
  const site = evidence ? () => callSite(__filename) : undefined;
  return freeze<Ground>({
    decider: confined
      ? leftToKernel(openDecider(gate, waitMs, site, ({ resourceType }) => resourceType !== "network"))
      : openDecider(gate, waitMs, site),
    gateFd,
    codeRoots: roots,
    isConfined: confined,
    loading: openLoading((args) => isImport(roots, args)),
    imports: openImports(ofThread ?? imports, (listed) => {
      if (site !== undefined) gate.imported(listed, site());
    }),
    launch: freeze({ preload: __filename, facts: factsText }),
    openBranch: () => gate.openBranch(),
    openBranchPort: () => gate.openBranchPort(),
  });
}

/** INVARIANT: neither the process nor the thread goes on. */
function end(): never {
  if (isMainThread) (process as unknown as { reallyExit(code: number): never }).reallyExit(EXIT_CODE);
  process.exit(EXIT_CODE);
}

/** WHY: `fork` hands the flags of this process on, and the guard puts its own in front of those of every child. */
function hideFlag(): void {
  const at = process.execArgv.indexOf(__filename);
  if (at > 0) process.execArgv.splice(at - 1, 2);
}

/**
 * Under Node's own permission model: the worker of the gate is the last thread that this process starts.
 * @throws TypeError where the right cannot be taken back
 */
function endThreads({ imports }: Ground): void {
  const { permission } = process as unknown as { readonly permission?: NodePermissionModel };
  if (permission === undefined || !permission.has("worker")) return;
  permission.drop?.("worker");
  if (permission.has("worker") || imports.allows("worker_threads"))
    throw new TypeError("a right to start threads is a way out of `--permission`: use Node 24, without it");
}

interface NodePermissionModel {
  has(scope: string): boolean;
  drop?(scope: string): void;
}

function install(): void {
  const { syncBuiltinESMExports: syncExports } = Module;
  const { _preload_modules: preloads = [] } = process as unknown as {
    readonly _preload_modules?: readonly unknown[];
  };
  const { _cache: cache } = Module as unknown as { readonly _cache: Record<string, unknown> };
  const fault = startFault({
    file: __filename,
    preloads: preloads.map((preload) => resolve(String(preload))),
    loaded: Object.keys(cache),
    flags: [...process.execArgv, ...(process.env["NODE_OPTIONS"] ?? "").split(/\s+/)],
    platform: process.platform,
  });
  if (fault !== undefined) throw new TypeError(fault);
  const ground = openGround();
  endThreads(ground);
  warmLoader();
  installFs(ground);
  installWorkingFolder(ground);
  installLoading(ground);
  installNetwork(ground);
  installRefused();
  installNativeFiles();
  guardProcesses(ground);
  installImports(ground);
  syncExports();
  hideFlag();
  // WHY: whoever finds this module in the cache finds nothing in it; and it is not to be found.
  Reflect.deleteProperty(cache, __filename);
}

try {
  install();
} catch (error) {
  process.stderr.write(`sallyport: ${error instanceof Error ? error.message : String(error)}\n`);
  end();
}
