/**
 * Every function of the sensitive modules, by what the guard does with it where the subject's manifest lists the module.
 * Where it does not, all of them are refused (`api-matrix.ts`). A test compares both with what the running Node has.
 */
import type { Classified } from "./api-matrix.ts";

/** By module. */
export const LISTED_MATRIX: Readonly<Record<string, Classified>> = Object.freeze({
  child_process: {
    guarded: "execFileSync execSync spawnSync",
    refused: "_forkChild",
    harmless: {
      "start by `ChildProcess.prototype.spawn`": "ChildProcess exec execFile fork spawn",
    },
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
    refused: "moveMessagePortToContext",
    harmless: {
      "carries values between threads of this process":
        "BroadcastChannel MessageChannel MessagePort getEnvironmentData postMessageToThread receiveMessageOnPort setEnvironmentData",
      "marks a value": "isMarkedAsUntransferable markAsUncloneable markAsUntransferable",
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
    guarded: "_load _readPackage setSourceMapsSupport",
    refused: "enableCompileCache findPackageJSON flushCompileCache register registerHooks",
    harmless: {
      "loads by `Module._load`": "Module _preloadModules createRequire runMain",
      "looks for a module, as `require` does":
        "_findPath _initPaths _nodeModulePaths _resolveFilename _resolveLookupPaths _stat",
      computes: "SourceMap _debug findSourceMap isBuiltin stripTypeScriptTypes wrap",
      "tells or sets how errors are shown": "getCompileCacheDir getSourceMapsSupport",
      "copies the functions that are there, guarded ones too": "syncBuiltinESMExports",
    },
  },
  wasi: {
    guarded: "WASI",
    refused: "",
    harmless: {},
  },
});
