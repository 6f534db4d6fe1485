/**
 * Every function of the sensitive modules, by what the guard does with it where the subject's manifest lists the module.
 * Where it does not, all of them are refused (`api-matrix.ts`). A test compares both with what the running Node has.
 */
import type { Classified } from "./api-matrix.ts";

/** By module, or by the prototype of a class of it. */
export const LISTED_MATRIX: Readonly<Record<string, Classified>> = Object.freeze({
  child_process: {
    guarded: "execFileSync execSync spawnSync",
    refused: "_forkChild",
    harmless: {
      "start by `ChildProcess.prototype.spawn`": "ChildProcess exec execFile fork spawn",
    },
  },
  "ChildProcess.prototype": {
    guarded: "spawn",
    refused: "",
    harmless: {
      "signals by the handle, where it is looked at": "kill",
      "uses what was started": "constructor ref unref",
    },
  },
  /** The handle of a child, which Node does not export. */
  "Process.prototype": {
    guarded: "spawn kill",
    refused: "",
    harmless: { "makes a handle that starts nothing by itself": "constructor" },
  },
  cluster: {
    guarded: "",
    refused: "",
    harmless: {
      "starts by `ChildProcess.prototype.spawn`": "Worker fork",
      "sets what the next start is decided on": "setupMaster setupPrimary",
      "ends what was started": "disconnect",
    },
  },
  worker_threads: {
    guarded: "Worker",
    refused: "",
    harmless: {
      "carries values between threads of this process":
        "BroadcastChannel MessageChannel MessagePort getEnvironmentData moveMessagePortToContext postMessageToThread receiveMessageOnPort setEnvironmentData",
      "marks a value": "isMarkedAsUntransferable markAsUncloneable markAsUntransferable",
    },
  },
  "Worker.prototype": {
    guarded: "constructor",
    refused: "getHeapSnapshot startHeapProfile",
    harmless: {
      "uses the thread that was started": "postMessage ref terminate unref",
      "tells numbers": "cpuUsage getHeapStatistics startCpuProfile",
    },
  },
  vm: {
    guarded: "",
    refused: "",
    harmless: {
      "runs code of this process, with what it is handed":
        "Script compileFunction createContext createScript runInContext runInNewContext runInThisContext",
      tells: "isContext measureMemory",
    },
  },
  module: {
    guarded: "_load",
    refused: "enableCompileCache findPackageJSON flushCompileCache register registerHooks",
    harmless: {
      "loads by `Module._load`": "Module _preloadModules createRequire runMain",
      "looks for a module, as `require` does":
        "_findPath _initPaths _nodeModulePaths _readPackage _resolveFilename _resolveLookupPaths _stat",
      computes: "SourceMap _debug findSourceMap isBuiltin stripTypeScriptTypes wrap",
      "tells or sets how errors are shown": "getCompileCacheDir getSourceMapsSupport setSourceMapsSupport",
      "copies the functions that are there, guarded ones too": "syncBuiltinESMExports",
    },
  },
  wasi: {
    guarded: "WASI",
    refused: "",
    harmless: {},
  },
  "WASI.prototype": {
    guarded: "constructor",
    refused: "",
    harmless: { "runs a program without folders": "finalizeBindings getImportObject initialize start" },
  },
});
