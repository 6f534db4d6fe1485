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
import { startFault } from "./first-preload.ts";
import { installFs } from "./fs/install-fs.ts";
import { installWorkingFolder } from "./fs/working-folder.ts";
import { type Ground, openLoading } from "./ground.ts";
import { installLoading, isImport, warmLoader } from "./imports/load-code.ts";
import { installImports } from "./imports/sensitive-import.ts";
import { guardLookup } from "./network/guard-lookup.ts";
import { guardSockets } from "./network/guard-sockets.ts";
import { refuseNetwork } from "./network/refuse-network.ts";
import { GATE_FD_VARIABLE, GUARD_VARIABLE, readFacts } from "./preload-facts.ts";
import { installRefused } from "./refused/refused-exports.ts";

/** Put in by the build. */
declare const REALM_SCRIPT: string;
declare const GATE_WORKER: string;

const SEED_END = 2 ** 32;
const EXIT_CODE = 78;

function inheritedGate(): number {
  const text = process.env[GATE_FD_VARIABLE] ?? "";
  const fd = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(fd >= 3)) throw new TypeError("there is no gate: start this program with `runtime.spawn`");
  return fd;
}

function openGround(): Ground {
  const { codeRoots, waitMs } = readFacts(process.env[GUARD_VARIABLE]);
  const gateFd = inheritedGate();
  // INVARIANT: a program that this one starts has another gate, or none.
  delete process.env[GATE_FD_VARIABLE];
  delete process.env[GUARD_VARIABLE];
  const realm = openPrivateRealm({
    seed: [randomInt(SEED_END), randomInt(SEED_END)],
    script: REALM_SCRIPT,
  });
  const gate = SyncGateClient.open({
    fd: gateFd,
    realm,
    workerFile: new URL(`data:text/javascript;base64,${Buffer.from(GATE_WORKER).toString("base64")}`),
  });
  const roots = freeze(codeRoots.flatMap((root) => realPath(root, "follow") ?? []));
  return freeze<Ground>({
    decider: openDecider(gate, waitMs),
    gateFd,
    codeRoots: roots,
    loading: openLoading((args) => isImport(roots, args)),
  });
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
    isMainThread,
  });
  if (fault !== undefined) throw new TypeError(fault);
  const ground = openGround();
  warmLoader();
  installFs(ground);
  installWorkingFolder(ground);
  installLoading(ground);
  refuseNetwork();
  guardSockets(ground);
  guardLookup(ground);
  installRefused();
  installImports();
  syncExports();
  // WHY: whoever finds this module in the cache finds nothing in it; and it is not to be found.
  Reflect.deleteProperty(cache, __filename);
}

try {
  install();
} catch (error) {
  process.stderr.write(`sallyport: ${error instanceof Error ? error.message : String(error)}\n`);
  (process as unknown as { reallyExit(code: number): never }).reallyExit(EXIT_CODE);
}
