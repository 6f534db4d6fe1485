/**
 * Functions that touch files, memory or other processes without passing any guarded function, and those that hand out
 * what belongs to the guard. Refused to guarded code, whoever calls them. No approval changes that.
 */
import process from "node:process";
import v8 from "node:v8";
import { isMainThread } from "node:worker_threads";
import { refusedError } from "../blocked-call.ts";
import { bare, defineProperty, freeze, getOwnPropertyDescriptor, ownKeys, quietly } from "../captured.ts";
import { nativePrototype } from "../native-class.ts";
import { replaceExport } from "../replace-export.ts";
import { whenLoaded } from "../when-loaded.ts";
import { holdSourceMaps } from "./source-maps.ts";
import { holdCertificates, holdSystemCertificates } from "./system-certificates.ts";

const ENGINE = "it loads native code";
const HOOK = "hooks run in the middle of the guard's own calls";
/** Of a native `SecureContext`, by which `tls.createSecureContext` and everything above it loads an engine. */
const ENGINES_OF_TLS = freeze(["setClientCertEngine", "setEngineKey"]);

/** By module: the function, and why. */
export const REFUSED_EXPORTS: Readonly<Record<string, Readonly<Record<string, string>>>> = freeze({
  process: {
    binding: "it hands out Node's internals",
    _linkedBinding: "it hands out Node's internals",
    dlopen: "native add-ons are not in the allowed imports of this subject",
    execve: "it replaces this process",
    _debugProcess: "it opens another process to a debugger",
    _debugEnd: "it belongs to the debugger",
    _getActiveHandles: "it hands out connections of the guard",
    _getActiveRequests: "it hands out connections of the guard",
    initgroups: "it changes who this process is for the system",
    setgroups: "it changes who this process is for the system",
    setegid: "it changes who this process is for the system",
    seteuid: "it changes who this process is for the system",
    setgid: "it changes who this process is for the system",
    setuid: "it changes who this process is for the system",
  },
  v8: {
    getHeapSnapshot: "it hands out the memory of the guard",
    queryObjects: "it looks into the memory of the guard",
    setFlagsFromString: "it changes the engine that the guard runs on",
    setHeapSnapshotNearHeapLimit: "it writes a file by itself",
    setHeapProfileNearHeapLimit: "it writes a file by itself",
    stopCoverage: "it writes a file by itself",
    takeCoverage: "it writes a file by itself",
    writeHeapSnapshot: "it writes the memory of the guard to a file",
  },
  async_hooks: {
    createHook: "it hands out resources of the guard",
    executionAsyncResource: "it hands out resources of the guard",
  },
  "v8.promiseHooks": {
    createHook: HOOK,
    onAfter: HOOK,
    onBefore: HOOK,
    onInit: HOOK,
    onSettled: HOOK,
  },
  crypto: { setEngine: ENGINE },
  trace_events: { createTracing: "it writes a file by itself" },
});

/** The reports of Node are files that it writes by itself, on demand or on a signal. */
const REPORT_SETTINGS = freeze([
  "directory",
  "filename",
  "reportOnFatalError",
  "reportOnSignal",
  "reportOnUncaughtException",
  "signal",
]);

export function installRefused(): void {
  // WHY: some Nodes make this class when it is first used, with a function that is refused from here on.
  Reflect.get(process.getBuiltinModule("async_hooks"), "AsyncLocalStorage");
  const isEngineHeld = refuseEngine();
  holdCertificates();
  holdSourceMaps();
  for (const name of Object.keys(REFUSED_EXPORTS)) {
    // WHY: in a thread there is no such module, and asking for it throws.
    if (name === "trace_events" && !isMainThread) continue;
    if (name === "process") refuse(name, process);
    else if (name === "v8.promiseHooks") refusePromiseHooks(name);
    else if (name === "crypto" && isEngineHeld) whenLoaded(name, (exports) => refuse(name, exports));
    else refuse(name, process.getBuiltinModule(name) as unknown as object);
  }
  refuseReports();
  installSignals();
}

function refuse(name: string, holder: object): void {
  const refused = REFUSED_EXPORTS[name] as Readonly<Record<string, string>>;
  const keys = ownKeys(refused);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const reason = refused[key] as string;
    replaceExport(holder, key, () => refusing(`${name}.${key}`, reason));
  }
}

/** WHY another object: Node follows asynchronous contexts by the functions of this one. */
function refusePromiseHooks(name: string): void {
  const hooks = { ...v8.promiseHooks };
  refuse(name, hooks);
  defineProperty(v8, "promiseHooks", {
    value: hooks,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/**
 * WHY: `crypto` takes a while to load, and most programs do without. What it takes the function from is refused before.
 * @returns false where Node hands out no internals
 */
function refuseEngine(): boolean {
  const context = nativePrototype("crypto", "SecureContext") ?? shownContext();
  for (const key of ENGINES_OF_TLS) replaceExport(context, key, () => refusing(`tls.${key}`, ENGINE));
  return quietly(() => {
    try {
      const native = (process as unknown as { binding(name: string): object }).binding("crypto");
      holdSystemCertificates(native);
      return replaceExport(native, "setEngine", () => refusing("crypto.setEngine", ENGINE));
    } catch {
      return false;
    }
  });
}

/** WHY: where Node hands out no internals a context shows its class; `crypto`, most of what `tls` needs, is loaded there anyway. */
function shownContext(): object {
  const { SecureContext } = process.getBuiltinModule("tls") as unknown as {
    readonly SecureContext: new () => { readonly context: object };
  };
  return Reflect.getPrototypeOf(new SecureContext().context) as object;
}

function refuseReports(): void {
  const { report } = process;
  if (report === undefined) return;
  for (const key of REPORT_SETTINGS) {
    const property = getOwnPropertyDescriptor(report, key);
    if (property?.set === undefined) continue;
    const set = refusing(`process.report.${key}`, "reports are files that Node writes by itself");
    defineProperty(report, key, { ...property, set });
  }
}

/** SIGUSR1 opens a debugger; signals to other processes are no operation that anybody could declare. */
function installSignals(): void {
  const { pid } = process;
  const mayKill = (to: unknown, signal: unknown): boolean =>
    to === pid && signal !== "SIGUSR1" && signal !== 10 && (typeof signal !== "object" || signal === null);
  for (const name of ["kill", "_kill"])
    replaceExport(
      process,
      name,
      (original) =>
        function kill(to: unknown, signal: unknown) {
          if (mayKill(to, signal)) return Reflect.apply(original, process, [to, signal]);
          return refusing(`process.${name}`, "a signal to another process, or one that opens a debugger")();
        },
    );
}

// oxlint-disable-next-line typescript/no-explicit-any -- stands for functions of any signature
export function refusing(name: string, why: string): (...args: any[]) => never {
  return function refused(): never {
    throw refusal(name, why);
  };
}

export function refusal(name: string, why: string): Error {
  return refusedError(`\`${name}\` is refused to guarded code: ${why}`, bare({ syscall: name }));
}
