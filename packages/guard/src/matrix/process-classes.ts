/** Classes of programs, threads, code and this process itself, where the subject's manifest lists the modules. See `class-matrix.ts`. */
import type { Classified } from "../api-matrix.ts";

export const PROCESS_CLASSES: Readonly<Record<string, Classified>> = Object.freeze({
  "child_process.ChildProcess.prototype": {
    guarded: "spawn",
    refused: "",
    harmless: {
      "signals by the handle, where it is looked at": "kill @Symbol.dispose @nodejs.dispose",
      "uses what was started": "constructor ref unref",
    },
  },
  "child_process.ChildProcess.own": {
    guarded: "",
    refused: "",
    harmless: {
      "sends by the channel, where handles are looked at": "_channel _disconnect _send disconnect send",
    },
  },
  "child_process.exec": {
    guarded: "",
    refused: "",
    harmless: { "starts by `ChildProcess.prototype.spawn`": "@nodejs.util.promisify.custom" },
  },
  "child_process.execFile": {
    guarded: "",
    refused: "",
    harmless: { "starts by `ChildProcess.prototype.spawn`": "@nodejs.util.promisify.custom" },
  },
  "native Process.prototype": {
    guarded: "kill spawn",
    refused: "",
    harmless: { "makes a handle that starts nothing by itself": "constructor" },
  },
  "native Process.own": { guarded: "", refused: "", harmless: { "tells its listeners": "onexit" } },
  "Control.prototype": {
    guarded: "",
    refused: "",
    harmless: { "counts users of the channel": "constructor fd ref refCounted unref unrefCounted" },
  },
  "worker_threads.Worker.prototype": {
    guarded: "constructor",
    refused: "getHeapSnapshot startHeapProfile",
    harmless: {
      "uses the thread that was started":
        "postMessage ref terminate unref @Symbol.asyncDispose @nodejs.asyncDispose",
      "is told what the thread says":
        "@kDispose @kOnCouldNotSerializeErr @kOnErrorMessage @kOnExit @kOnMessage",
      "tells about it":
        "cpuUsage getHeapStatistics resourceLimits startCpuProfile stderr stdin stdout threadId threadName",
    },
  },
  "worker_threads.Worker.own": {
    guarded: "",
    refused: "",
    harmless: { "tells its listeners": "@kNewListener @kRemoveListener" },
  },
  "native Worker.prototype": {
    guarded: "",
    refused: "constructor startHeapProfile stopHeapProfile takeHeapSnapshot",
    harmless: {
      "uses a thread that `Worker` has made":
        "cpuUsage getHeapStatistics getResourceLimits hasRef loopIdleTime loopStartTime ref startCpuProfile startThread stopCpuProfile stopThread unref",
    },
  },
  "native Worker.own": { guarded: "", refused: "", harmless: { "tells its listeners": "onexit" } },
  "ReadableWorkerStdio.prototype": {
    guarded: "",
    refused: "",
    harmless: { "reads what the thread has written": "_read constructor" },
  },
  "worker_threads.MessagePort.prototype": {
    guarded: "postMessage",
    refused: "",
    harmless: {
      "carries values between threads of this process":
        "close constructor hasRef onmessage onmessageerror ref start unref @handle_onclose @kCreateEvent @nodejs.util.inspect.custom @oninit",
    },
  },
  "worker_threads.MessagePort.own": {
    guarded: "",
    refused: "",
    harmless: { "tells its listeners": "@kNewListener @kRemoveListener" },
  },
  "native MessageChannel.prototype": {
    guarded: "",
    refused: "",
    harmless: { "carries values between threads of this process": "constructor" },
  },
  "worker_threads.BroadcastChannel.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "carries values between threads of this process":
        "close constructor name onmessage onmessageerror postMessage ref unref @nodejs.util.inspect.custom",
    },
  },
  "worker_threads.BroadcastChannel.own": {
    guarded: "",
    refused: "",
    harmless: { "tells its listeners": "@kOnMessage @kOnMessageError" },
  },
  "NodeEventTarget.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells its listeners":
        "addListener constructor emit eventNames getMaxListeners listenerCount off on once removeAllListeners removeListener setMaxListeners",
    },
  },
  "module.Module.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "loads by `Module._load` and `Module._extensions`": "load require",
      "runs code of this process": "_compile",
      "tells about it": "constructor isPreloading parent",
    },
  },
  "module.SourceMap.prototype": {
    guarded: "",
    refused: "",
    harmless: { computes: "constructor findEntry findOrigin lineLengths payload @kMappings" },
  },
  "module._extensions": {
    guarded: ".js .json",
    refused: "",
    harmless: { "loads by `process.dlopen`, looked up when it is used": ".node" },
  },
  "vm.Script.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "runs code of this process, with what it is handed":
        "constructor runInContext runInNewContext runInThisContext",
    },
  },
  "native ContextifyScript.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "runs code of this process, with what it is handed": "constructor createCachedData runInContext",
    },
  },
  "wasi.WASI.prototype": {
    guarded: "constructor",
    refused: "",
    harmless: { "runs a program without folders": "finalizeBindings getImportObject initialize start" },
  },
  "wasi.WASI.own": {
    guarded: "",
    refused: "",
    harmless: { "runs a program without folders": "@kSetMemory" },
  },
  "native WASI.prototype": {
    guarded: "proc_raise",
    refused: "constructor",
    harmless: {
      "runs a program without folders, with the descriptors that it was given":
        "args_get args_sizes_get clock_res_get clock_time_get environ_get environ_sizes_get fd_advise fd_allocate fd_close fd_datasync fd_fdstat_get fd_fdstat_set_flags fd_fdstat_set_rights fd_filestat_get fd_filestat_set_size fd_filestat_set_times fd_pread fd_prestat_dir_name fd_prestat_get fd_pwrite fd_read fd_readdir fd_renumber fd_seek fd_sync fd_tell fd_write path_create_directory path_filestat_get path_filestat_set_times path_link path_open path_readlink path_remove_directory path_rename path_symlink path_unlink_file poll_oneoff proc_exit random_get sched_yield sock_accept sock_recv sock_send sock_shutdown",
    },
  },
  "native WASI.own": {
    guarded: "",
    refused: "",
    harmless: {
      "are the methods of its class, bound to it":
        "args_get args_sizes_get clock_res_get clock_time_get environ_get environ_sizes_get fd_advise fd_allocate fd_close fd_datasync fd_fdstat_get fd_fdstat_set_flags fd_fdstat_set_rights fd_filestat_get fd_filestat_set_size fd_filestat_set_times fd_pread fd_prestat_dir_name fd_prestat_get fd_pwrite fd_read fd_readdir fd_renumber fd_seek fd_sync fd_tell fd_write path_create_directory path_filestat_get path_filestat_set_times path_link path_open path_readlink path_remove_directory path_rename path_symlink path_unlink_file poll_oneoff proc_exit proc_raise random_get sched_yield sock_accept sock_recv sock_send sock_shutdown",
    },
  },
  "v8.Serializer.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      computes:
        "_getDataCloneError _setTreatArrayBufferViewsAsHostObjects constructor releaseBuffer transferArrayBuffer writeDouble writeHeader writeRawBytes writeUint32 writeUint64 writeValue",
    },
  },
  "v8.Deserializer.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      computes:
        "_readRawBytes constructor getWireFormatVersion readDouble readHeader readRawBytes readUint32 readUint64 readValue transferArrayBuffer",
    },
  },
  "v8.DefaultSerializer.prototype": {
    guarded: "",
    refused: "",
    harmless: { computes: "_writeHostObject constructor" },
  },
  "v8.DefaultDeserializer.prototype": {
    guarded: "",
    refused: "",
    harmless: { computes: "_readHostObject constructor" },
  },
  "v8.GCProfiler.prototype": {
    guarded: "",
    refused: "",
    harmless: { "tells numbers": "constructor start stop @Symbol.dispose" },
  },
  "SyncCPUProfileHandle.prototype": {
    guarded: "",
    refused: "",
    harmless: { "tells numbers": "constructor stop @Symbol.dispose" },
  },
  "v8.startupSnapshot": {
    guarded: "",
    refused: "",
    harmless: {
      "keeps functions for a snapshot that this process does not make":
        "addDeserializeCallback addSerializeCallback isBuildingSnapshot setDeserializeMainFunction",
    },
  },
  "async_hooks.AsyncLocalStorage.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "carries the program's own values":
        "_enable _propagate constructor disable enterWith exit getStore name run withScope",
    },
  },
  "async_hooks.AsyncLocalStorage": {
    guarded: "",
    refused: "",
    harmless: { "carries the program's own values": "bind snapshot" },
  },
  "async_hooks.AsyncResource.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "carries the program's own values":
        "asyncId bind constructor emitDestroy runInAsyncScope triggerAsyncId",
    },
  },
  "async_hooks.AsyncResource": {
    guarded: "",
    refused: "",
    harmless: { "carries the program's own values": "bind" },
  },
  "Tracing.prototype": {
    guarded: "",
    refused: "categories constructor disable enable enabled @nodejs.util.inspect.custom",
    harmless: {},
  },
  "native CategorySet.prototype": { guarded: "", refused: "constructor disable enable", harmless: {} },
  "process.memoryUsage": { guarded: "", refused: "", harmless: { "tells numbers": "rss" } },
  "process.hrtime": { guarded: "", refused: "", harmless: { "tells numbers": "bigint" } },
  "process.features": {
    guarded: "",
    refused: "",
    harmless: { "tells numbers": "cached_builtins dtls quic require_module typescript" },
  },
  "process.finalization": {
    guarded: "",
    refused: "",
    harmless: { "calls functions of the program when it ends": "register registerBeforeExit unregister" },
  },
  "NodeEnvironmentFlagsSet.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells names": "add clear constructor delete entries forEach has keys size values @Symbol.iterator",
    },
  },
  "process.report": {
    guarded: "getReport writeReport",
    refused: "directory filename reportOnFatalError reportOnSignal reportOnUncaughtException signal",
    harmless: { "sets what is told": "compact excludeEnv excludeNetwork" },
  },
  "global.Navigator.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells about this process":
        "constructor hardwareConcurrency language languages locks platform userAgent",
    },
  },
  "LockManager.prototype": {
    guarded: "",
    refused: "",
    harmless: { "orders threads of this process": "constructor query request" },
  },
});
