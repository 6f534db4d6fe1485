/**
 * The preload: one self-contained file, the first `--require` of a process that was started for a subject. This is what
 * `begin.ts` runs: waits for the gate, takes Node's functions, and puts guarded ones in their place before the program runs.
 * The process is whom its socket says, all of it: that subject is its root frame, so no callback loses it.
 * Must never let the program run where it cannot guard it: what it throws ends the process.
 */
import Module from "node:module";
import { fileURLToPath } from "node:url";
import { SyncGateClient, openPrivateRealm, realPath } from "@sallyport/gate";
import { type Actor, openActing } from "./acting.ts";
import type { Begun } from "./begin.ts";
import { freeze } from "./captured.ts";
import { openDecider } from "./decide-call.ts";
import { callSite } from "./evidence.ts";
import { ownStreams } from "./fs/descriptor-owner.ts";
import { installFs, warmFs } from "./fs/install-fs.ts";
import { installWorkingFolder } from "./fs/working-folder.ts";
import { type Ground, openLoading } from "./ground.ts";
import { noteExactly } from "./http/request-note.ts";
import { installLoading, isImport, warmLoader } from "./imports/load-code.ts";
import { installImports, openImports } from "./imports/sensitive-import.ts";
import { leftToKernel } from "./left-to-kernel.ts";
import { installNetwork } from "./network/install-network.ts";
import { ownSockets } from "./network/socket-owner.ts";
import { openHatchway } from "./open-hatch.ts";
import { guardProcesses } from "./process/guard-processes.ts";
import { randomSeed } from "./random-seed.ts";
import { installNativeFiles } from "./refused/native-files.ts";
import { installRefused } from "./refused/refused-exports.ts";
import { hearLoads } from "./when-loaded.ts";

/** Put in by the build: what the first part of the preload hands over. */
declare const BEGUN: Begun;
/** What this script is called on the stack. */
declare const GUARD_SCRIPT: string;

/** What Node loads when it is first used, and should be loaded while nothing is replaced. */
function warm(ground: Pick<Ground, "isConfined">): void {
  const { stackTraceLimit } = Error;
  // WHY: some of it ends in an error that nobody reads, and Node makes the text of its stack.
  Error.stackTraceLimit = 0;
  warmLoader();
  warmFs(ground);
  warmRegExps();
  Error.stackTraceLimit = stackTraceLimit;
}

/**
 * WHY: Node makes a realm for its own regular expressions when one of them is first used, such as by the streams of `fetch`,
 * and with a function that is refused to the program later on. This is the shortest way to one of them.
 */
function warmRegExps(): void {
  fileURLToPath("file:///C:/", { windows: true });
}

function openGround(): Ground {
  const { gateFd, facts, imports: ofThread, factsText } = BEGUN.inheritance;
  const { codeRoots, waitMs, confined } = facts;
  const gate = SyncGateClient.open({
    gate: BEGUN.worker,
    openRealm: () => {
      warm({ isConfined: confined });
      return openPrivateRealm({ seed: randomSeed(), ...BEGUN.realm });
    },
  });
  // WHY: what was declared and done is told in batches, and the last one is not lost.
  process.once("exit", () => gate.drain());
  const roots = freeze(codeRoots.flatMap((root) => realPath(root, "follow") ?? []));
  const { imports, evidence } = gate.terms;
  const site = evidence ? () => callSite(GUARD_SCRIPT) : undefined;
  const acting = openActing(() => gate.terms.hosted);
  const ground: Ground = freeze<Ground>({
    decider: confined
      ? leftToKernel(
          openDecider(gate, waitMs, acting.now, site, ({ resourceType }) => resourceType !== "network"),
        )
      : openDecider(gate, waitMs, acting.now, site),
    actor: acting.now,
    gateFd,
    codeRoots: roots,
    isConfined: confined,
    loading: openLoading((args) => isImport(roots, args)),
    imports: openImports(ofThread ?? imports, acting.now, (listed) => {
      if (site !== undefined) gate.imported(listed, site());
    }),
    hatchway: openHatchway(gate, acting, () => holdApart(ground)),
    launch: freeze({ preload: __filename, facts: factsText }),
    openBranch: () => (mayStart(acting.now()) ? gate.openBranch(acting.now().hosted) : undefined),
    openBranchPort: () => (mayStart(acting.now()) ? gate.openBranchPort(acting.now().hosted) : undefined),
  });
  return ground;
}

/** What one subject could take for its own: requests of one URL, the data of streams, connections. */
function holdApart(ground: Ground): void {
  noteExactly();
  ownStreams();
  ownSockets(ground);
}

/** Nobody starts nothing; nor does a subject that was made up, whose bounds no other process would know. */
function mayStart({ hosted, entered }: Actor): boolean {
  return entered === undefined && (hosted === undefined || hosted.length > 0);
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
  const { _cache: cache } = Module as unknown as { readonly _cache: Record<string, unknown> };
  const ground = openGround();
  endThreads(ground);
  hearLoads();
  installFs(ground);
  installWorkingFolder(ground);
  installLoading(ground);
  installNetwork(ground);
  installRefused();
  installNativeFiles();
  guardProcesses(ground, BEGUN.worker.worker);
  installImports(ground);
  syncExports();
  hideFlag();
  // WHY: whoever finds this module in the cache finds nothing in it; and it is not to be found.
  Reflect.deleteProperty(cache, __filename);
}

install();
