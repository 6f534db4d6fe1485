/**
 * Worker threads that guarded code starts. Each carries the guard in front of everything else and has a gate of its own,
 * bound to the same subject with the same rules. A thread shares this process: the guard in
 * it attributes and asks, as everywhere.
 * INVARIANT: a thread never starts without both.
 */
import workerThreads, { type Worker } from "node:worker_threads";
import { pathText } from "@sallyport/gate";
import { invalidError, refusedError } from "../blocked-call.ts";
import { append, bare, defineProperty, freeze, getOwnPropertyDescriptor, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { requireListed } from "../imports/sensitive-import.ts";
import { shownValue } from "../network/not-an-endpoint.ts";
import { refusing } from "../refused/refused-exports.ts";
import { replaceExport } from "../replace-export.ts";
import { isScrubbed } from "./child-environment.ts";
import { textsOf } from "./guard-spawn.ts";
import { badFlag } from "./node-flags.ts";
import { type ThreadStart, guardThreadPorts, startingThread } from "./thread-port.ts";

type Options = Record<string, unknown>;
// oxlint-disable-next-line typescript/no-explicit-any -- a class of any signature is wrapped
type AnyClass = new (...args: any[]) => object;

const { construct, ownKeys } = Reflect;
const { SHARE_ENV } = workerThreads;
const NativeUrl = URL;
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const hrefOf = Object.getOwnPropertyDescriptor(URL.prototype, "href")?.get as () => string;
/** No thread starts from it: it is shown to Node beside what Node refuses. */
const NOWHERE = "/dev/null";
const KEPT = freeze(["argv", "name", "resourceLimits", "stderr", "stdin", "stdout", "trackUnmanagedFds"]);

const Native = workerThreads.Worker as unknown as AnyClass;

/** @param shown a thread of the guard's own */
export function guardWorkers(ground: Ground, shown: Worker): void {
  guardThreadPorts(shown);
  const Guarded: AnyClass = new Proxy(Native, {
    construct: (_target, args: readonly unknown[], newTarget): object => {
      const { file, options, start } = planned(ground, args);
      const made = newTarget === Guarded ? Native : newTarget;
      return startingThread(start, () => construct(Native, [file, options], made) as object);
    },
  });
  const { prototype } = Native as unknown as { readonly prototype: object };
  defineProperty(
    prototype,
    "constructor",
    bare({ value: Guarded, enumerable: false, configurable: true, writable: true }),
  );
  // WHY: each hands out the memory of the thread, and with it that of its guard.
  for (const name of ["getHeapSnapshot", "startHeapProfile"])
    replaceExport(prototype, name, () => refusing(`Worker.${name}`, "it hands out the memory of the guard"));
  defineProperty(
    workerThreads,
    "Worker",
    bare({ value: Guarded, enumerable: true, configurable: true, writable: true }),
  );
}

function planned(ground: Ground, args: readonly unknown[]) {
  const given = (typeof args[1] === "object" && args[1] !== null ? args[1] : {}) as Options;
  const options: Options = bare({});
  for (let index = 0; index < KEPT.length; index++) {
    const key = KEPT[index] as string;
    const value = given[key];
    if (value !== undefined) put(options, key, value);
  }
  const isText = given["eval"] === true;
  if (isText) put(options, "eval", true);
  put(options, "execArgv", flagsOf(ground, given["execArgv"]));
  const env = environmentOf(given["env"]);
  put(options, "env", env);
  const file = fileOf(args[0], isText);
  requireListed(ground.imports, "worker_threads");
  const port = ground.openBranchPort();
  if (port === undefined)
    throw refusedError(
      "a thread of guarded code needs a gate of its own, and there is none now: see that the service runs",
      bare({ syscall: "Worker" }),
    );
  const start: ThreadStart = bare({
    sallyportGate: port,
    sallyportGateFd: ground.gateFd,
    sallyportFacts: ground.launch.facts,
    sallyportImports: ground.imports.listed,
    data: undefined,
  });
  put(options, "workerData", given["workerData"]);
  put(options, "transferList", copyOf(given["transferList"]));
  return { file, options, start };
}

function copyOf(list: unknown): unknown[] {
  const own: unknown[] = [];
  if (Array.isArray(list)) for (let index = 0; index < list.length; index++) append(own, list[index]);
  return own;
}

/** @throws ExternalAccessError for flags that could run beside the guard */
function flagsOf(ground: Ground, given: unknown): string[] {
  const own: string[] = [];
  append(own, "--require");
  append(own, ground.launch.preload);
  // INVARIANT: Node throws for each of these, so that no thread starts here.
  if (Boolean(given) && !Array.isArray(given))
    construct(Native, [NOWHERE, bare({ execArgv: shownValue(given) })]);
  const flags = textsOf(given);
  const bad = flags === undefined ? "execArgv" : badFlag(flags, 0);
  if (bad !== undefined)
    throw refusedError(
      `the flag \`${bad}\` is refused to a thread of guarded code: it could run beside the guard; leave it out`,
      bare({ syscall: "Worker" }),
    );
  const kept = flags ?? [];
  for (let index = 0; index < kept.length; index++) append(own, kept[index] as string);
  return own;
}

/**
 * WHY: from its environment a thread reads flags, and those come before the guard. A shared one is read when the thread comes
 * up, later than anybody could look at it, and Node writes files where it says; so that is handed over as a copy too.
 */
function environmentOf(given: unknown): Options {
  if (given !== undefined && given !== null && given !== SHARE_ENV && typeof given !== "object")
    construct(Native, [NOWHERE, bare({ env: shownValue(given) })]);
  const source = (typeof given === "object" && given !== null ? given : process.env) as Options;
  const env: Options = bare({});
  const names = ownKeys(source);
  for (let index = 0; index < names.length; index++) {
    const name = names[index];
    if (typeof name !== "string" || isScrubbed(name)) continue;
    if (getOwnPropertyDescriptor(source, name)?.enumerable === true)
      put(env, name, `${source[name] as number}`);
  }
  return env;
}

/** Text of a program, a path, or the text of a URL: never an object that could be another one when it is read again. */
function fileOf(file: unknown, isText: boolean): unknown {
  if (isText || typeof file !== "object" || file === null) return shownValue(file);
  let href: string | undefined;
  try {
    href = Reflect.apply(hrefOf, file, []);
  } catch {
    href = undefined;
  }
  if (href !== undefined) return new NativeUrl(href);
  const path = pathText(file);
  if (path !== undefined) return path;
  construct(Native, [shownValue(file)]);
  throw invalidError("a thread needs a path, a URL or the text of a program", bare({ syscall: "Worker" }));
}
