/**
 * Every function of the covered modules, by what the guard does with it; those of their classes stand in `matrix`. A test lists what the running Node has and fails
 * where a name is missing here, and where a name that is guarded or refused is still Node's own function.
 * Names that only some Nodes have are listed for all of them.
 */

/** Names in one text, separated by spaces, for each class. `harmless` gives the reason to each group of names. */
export interface Classified {
  readonly guarded: string;
  readonly refused: string;
  readonly harmless: Readonly<Record<string, string>>;
  /** Guarded on Nodes that need it. */
  readonly sometimes?: string;
}

const FILE_CALLS =
  "access appendFile chmod chown copyFile cp lchmod lchown link lstat lutimes mkdir mkdtemp open opendir readFile " +
  "readdir readlink realpath rename rm rmdir stat statfs symlink truncate unlink utimes writeFile";
const DESCRIPTOR_CALLS =
  "close fchmod fchown fdatasync fstat fsync ftruncate futimes read readv write writev";

const QUERIES =
  "lookupService resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse";

const both = (names: string): string =>
  names
    .split(" ")
    .flatMap((name) => [name, `${name}Sync`])
    .join(" ");

/** By module. */
export const API_MATRIX: Readonly<Record<string, Classified>> = Object.freeze({
  fs: {
    guarded: `${both(FILE_CALLS)} ${both(DESCRIPTOR_CALLS)} exists existsSync glob globSync openAsBlob openAsBlobSync watch watchFile unwatchFile mkdtempDisposableSync`,
    refused: "Dir Utf8Stream",
    harmless: {
      "opens by `fs.open`, reads and writes by `fs.read` and `fs.write`":
        "createReadStream createWriteStream ReadStream WriteStream FileReadStream FileWriteStream",
      "holds what was asked for already": "Dirent Stats",
      computes: "_toUnixTimestamp",
    },
  },
  "fs/promises": {
    guarded: `${FILE_CALLS} glob watch mkdtempDisposable`,
    refused: "",
    harmless: {},
  },
  net: {
    guarded: "",
    refused: "BoundSocket _TransferredBoundSocket _createServerHandle",
    harmless: {
      "connects by `Socket.prototype.connect`": "Socket Stream connect createConnection",
      "listens by `Server.prototype.listen`": "Server createServer",
      computes: "BlockList SocketAddress isIP isIPv4 isIPv6 _normalizeArgs _setSimultaneousAccepts",
      "sets how an address is chosen among those that were decided on":
        "getDefaultAutoSelectFamily getDefaultAutoSelectFamilyAttemptTimeout setDefaultAutoSelectFamily setDefaultAutoSelectFamilyAttemptTimeout",
    },
  },
  dgram: {
    guarded: "",
    refused: "",
    harmless: {
      "its methods are guarded": "Socket createSocket",
      "opens and binds by the native handle, which does neither by itself": "_createSocketHandle",
    },
  },
  tls: {
    guarded: "getCACertificates",
    refused: "",
    harmless: {
      "connects by `Socket.prototype.connect`, and is followed by its methods": "TLSSocket connect",
      "listens by `Server.prototype.listen`": "Server createServer",
      computes:
        "SecureContext SecurePair checkServerIdentity convertALPNProtocols convertProtocols createSecureContext createSecurePair getCertificateCompressionAlgorithms getCiphers parseCertString setDefaultCACertificates",
    },
  },
  dns: {
    guarded: `lookup setServers ${QUERIES}`,
    refused: "",
    harmless: {
      "its methods are guarded": "Resolver",
      "tells or sets an order": "getDefaultResultOrder getServers setDefaultResultOrder",
    },
  },
  "dns/promises": {
    guarded: `lookup setServers ${QUERIES}`,
    refused: "",
    harmless: {
      "its methods are guarded": "Resolver",
      "tells or sets an order": "getDefaultResultOrder getServers setDefaultResultOrder",
    },
  },
  http: {
    guarded: "get request",
    refused: "",
    harmless: {
      "connects by `Socket.prototype.connect`, and what it sends is decided there": "Agent ClientRequest",
      "listens by `net.Server.prototype.listen`": "Server createServer _connectionListener",
      computes:
        "IncomingMessage OutgoingMessage ServerResponse setMaxIdleHTTPParsers validateHeaderName validateHeaderValue setGlobalProxyFromEnv",
      "connects as `http.request` does": "WebSocket CloseEvent MessageEvent",
    },
  },
  https: {
    guarded: "get request",
    refused: "",
    harmless: {
      "connects by `Socket.prototype.connect`, and what it sends is decided there": "Agent",
      "listens by `net.Server.prototype.listen`": "Server createServer",
    },
  },
  http2: {
    guarded: "connect createSecureServer createServer performServerHandshake",
    refused: "",
    harmless: {
      computes:
        "Http2ServerRequest Http2ServerResponse getDefaultSettings getPackedSettings getUnpackedSettings",
    },
  },
  v8: {
    guarded: "",
    refused:
      "getHeapSnapshot queryObjects setFlagsFromString setHeapProfileNearHeapLimit setHeapSnapshotNearHeapLimit stopCoverage takeCoverage writeHeapSnapshot",
    harmless: {
      "tells numbers":
        "cachedDataVersionTag getCppHeapStatistics getHeapCodeStatistics getHeapSpaceStatistics getHeapStatistics isStringOneByteRepresentation GCProfiler startCpuProfile startHeapProfile",
      computes: "DefaultDeserializer DefaultSerializer Deserializer Serializer deserialize serialize",
    },
  },
  "v8.promiseHooks": {
    guarded: "",
    refused: "createHook onAfter onBefore onInit onSettled",
    harmless: {},
  },
  process: {
    guarded: "chdir kill _kill getBuiltinModule loadEnvFile setSourceMapsEnabled",
    refused:
      "binding _linkedBinding dlopen execve _debugProcess _debugEnd _getActiveHandles _getActiveRequests initgroups setgroups setegid seteuid setgid setuid",
    harmless: {
      "tells about this process":
        "_rawDebug availableMemory constrainedMemory cpuUsage cwd getActiveResourcesInfo getegid geteuid getgid getgroups getuid hasUncaughtExceptionCaptureCallback hrtime memoryUsage resourceUsage threadCpuUsage uptime",
      "ends this process or changes how it runs":
        "_fatalException _startProfilerIdleNotifier _stopProfilerIdleNotifier _tickCallback abort addUncaughtExceptionCaptureCallback assert emitWarning exit nextTick openStdin reallyExit ref setUncaughtExceptionCaptureCallback umask unref",
    },
  },
  async_hooks: {
    guarded: "",
    refused: "createHook executionAsyncResource",
    harmless: {
      "carries the program's own values": "AsyncLocalStorage AsyncResource executionAsyncId triggerAsyncId",
    },
  },
  trace_events: {
    guarded: "",
    refused: "createTracing",
    harmless: { "tells names": "getEnabledCategories" },
  },
});

/** Modules whose functions are refused, all but those named. */
export const REFUSED_MODULES: Readonly<Record<string, string>> = Object.freeze({
  child_process: "",
  worker_threads: "markAsUncloneable",
  vm: "",
  inspector: "",
  "inspector/promises": "",
  wasi: "",
  cluster: "",
  module:
    "Module _findPath _initPaths _load _nodeModulePaths _preloadModules _resolveFilename _resolveLookupPaths _stat isBuiltin runMain wrap",
});
