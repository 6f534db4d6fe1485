/**
 * The runtime that a host embeds: enters subjects, and gives their code the SDK. Who answers is injected, the service in
 * this process or a client of a remote one. The host keeps the runtime to itself; guarded code gets `sdk` only.
 */
import type { ChildProcess } from "node:child_process";
import type { Worker } from "node:worker_threads";
import { ContextKeeper, type HostFacts, contextFacts, followListeners } from "@sallyport/context";
import { type AccessPolicy, type CallerContext, PermissionError } from "@sallyport/contract";
import { type AttachChild, type ChildSpawnOptions, spawnChild } from "./children/spawn-child.ts";
import { enterHosted } from "./children/hosted-subjects.ts";
import { type ChildWorkerOptions, startWorker } from "./children/start-worker.ts";
import { Entering, isHostCode } from "./entering.ts";
import type { SubjectRegistry } from "./registry/subject-registry.ts";
import type { ContextOptions, OneOffUrl, RunOptions } from "./run-options.ts";
import { type Action, type ActionHandler, hostAction } from "./sdk/actions.ts";
import type { DecisionVerb, HostAction, SdkGround } from "./sdk/sdk-ground.ts";
import { type Sdk, type SubjectInput, createSdk, subjectOf } from "./sdk/sdk.ts";
import { type ReachPorts, targetPorts } from "./target-ports.ts";

export interface RuntimePorts extends ReachPorts {
  /** Takes a resume action of a module; throws where the name is another module's. */
  readonly registerAction?: ((action: HostAction & { readonly module: string }) => void) | undefined;
  /** Binds a caller to one end of a socket whose other end a child holds. */
  readonly attachChild?: AttachChild | undefined;
  /** Puts an attempt of guarded code to decide on record. */
  readonly recordRefusal?: ((caller: CallerContext, verb: DecisionVerb) => Promise<void>) | undefined;
}

export interface RuntimeOptions {
  readonly policy: AccessPolicy;
  readonly registry: SubjectRegistry;
  readonly ports?: RuntimePorts | undefined;
  readonly keeper?: ContextKeeper | undefined;
  /** What holds for every context of this host unless `run` says otherwise. */
  readonly facts?: Partial<HostFacts> | undefined;
  /** `false`: listeners are not bound to the context that they are registered in. */
  readonly followsListeners?: boolean | undefined;
}

export interface Runtime {
  /** For guarded code. */
  readonly sdk: Sdk;
  /** Where modules, engines, agents and the rest are registered. */
  readonly registry: SubjectRegistry;
  /**
   * Runs `fn` as a registered subject, or as `core:core` for the host itself. What is synchronous stays so.
   * Throws `SubjectRefusedError` where the subject cannot be entered.
   */
  run<R>(subject: SubjectInput, options: RunOptions, fn: (sdk: Sdk) => R): R;
  /** Runs `fn` as the host, for the person who acts. */
  runAsHost<R>(options: ContextOptions, fn: (sdk: Sdk) => R): R;
  /** Gives the active subject a URL for one call. */
  oneOff<R>(url: OneOffUrl, fn: () => R): R;
  /** The function in the context of now, whoever calls it later. */
  bind<T, A extends unknown[], R>(fn: (this: T, ...args: A) => R): (this: T, ...args: A) => R;
  /**
   * Starts a program for the subject of now. It is that subject by the socket that it inherits, and by nothing else; its
   * rules travel with it, its sensitive imports do not.
   */
  spawn(command: string, args?: readonly string[], options?: ChildSpawnOptions): ChildProcess;
  /** Starts a worker thread for the subject of now, in the same way. */
  worker(file: string | URL, options?: ChildWorkerOptions): Worker;
  /** Registers a resume action for a module, where the host does it in its place. */
  registerAction<C>(module: string, name: string, action: ActionHandler<C, Sdk> | Action<C, Sdk>): void;
  /** For the service: enters the caller of a resume. */
  enterResume<T>(caller: CallerContext, work: (sdk: Sdk) => Promise<T>): Promise<T>;
  /** The caller of now, as the host sees it. */
  caller(): CallerContext;
  close(): void;
}

const ACTS: Readonly<Record<DecisionVerb, string>> = {
  approveForSession: "approve external access",
  approvePermanently: "approve external access",
  deny: "deny external access",
};
const CORE = subjectOf({ type: "core", name: "core" });

export function createRuntime(options: RuntimeOptions): Runtime {
  const { registry, ports = {}, keeper = new ContextKeeper() } = options;
  const entering = new Entering({ keeper, registry, facts: options.facts ?? {} });
  const following = options.followsListeners === false ? undefined : followListeners(keeper);
  const ground = groundOf(options, entering, keeper, ports);
  const sdk = createSdk(ground);
  return Object.freeze<Runtime>({
    sdk,
    registry,
    run: (subject, how, fn) => entering.run(subjectOf(subject), how, () => fn(sdk)),
    runAsHost: (how, fn) => entering.run(CORE, how, () => fn(sdk)),
    oneOff: (url, fn) => entering.oneOff(url, fn),
    bind: (fn) => keeper.bind(fn),
    registerAction: (module, name, action) => {
      const taken = hostAction(name, module, action, () => sdk);
      register(ports, { ...taken, module });
    },
    spawn: (command, args = [], how = {}) =>
      spawnChild(childParts(entering, registry, ports), command, args, how),
    worker: (file, how = {}) => startWorker(childParts(entering, registry, ports), file, how),
    enterResume: (caller, work) => entering.resume(caller, () => work(sdk)),
    caller: () => entering.caller(),
    close: () => following?.stop(),
  });
}

/** INVARIANT: what a child is, is settled here, before it runs. */
function childParts(entering: Entering, registry: SubjectRegistry, { attachChild }: RuntimePorts) {
  if (attachChild === undefined)
    throw new TypeError("this host has no gate for children: start them where the service is");
  const caller = entering.caller();
  if (caller.frames.length === 0) throw new TypeError("nobody acts: start a child inside of `runtime.run`");
  const ownImports = (): readonly string[] => importsOf(registry, caller);
  const host = (subjects: readonly SubjectInput[]) => enterHosted(registry, subjects);
  return { caller, attachChild, ownImports, enterHosted: host, letGo: entering.hold() };
}

/** What the manifest of the active subject lists, where the host entered it; nothing otherwise. */
function importsOf(registry: SubjectRegistry, { frames }: CallerContext): readonly string[] {
  const active = frames.at(-1);
  if (active === undefined || active.entry !== "host") return [];
  const entry = registry.enter(active.subject, { phase: active.phase, use: "own" });
  if (!entry.ok) return [];
  entry.leave();
  return entry.allowedImports;
}

function groundOf(
  { policy }: RuntimeOptions,
  entering: Entering,
  keeper: ContextKeeper,
  ports: RuntimePorts,
): SdkGround {
  return Object.freeze<SdkGround>({
    policy,
    isGuarded: false,
    targets: targetPorts(ports),
    caller: () => entering.caller(),
    facts: () => contextFacts(keeper.current()),
    profile: () => entering.caller().sandboxProfile,
    decide: async (verb, aim) => {
      const caller = entering.caller();
      // INVARIANT: told before anything is read, and never left to a policy that might not look at the caller.
      if (!isHostCode(caller)) {
        await ports.recordRefusal?.(caller, verb).catch(() => undefined);
        throw new PermissionError(ACTS[verb]);
      }
      const aimed = aim();
      return "ok" in aimed ? aimed : policy[verb](caller, aimed.by, aimed.words);
    },
    enterMadeUp: (subject, fn) => entering.enterMadeUp(subject, fn),
    registerAction: (action) => register(ports, { ...action, module: moduleOfNow(entering.caller()) }),
  });
}

/** INVARIANT: only the module's own code, as the host entered it, speaks for the module. */
function moduleOfNow({ frames }: CallerContext): string {
  const active = frames.at(-1);
  if (active?.subject.type === "module" && active.entry === "host") return active.subject.name;
  throw new TypeError("an action is registered by its module: call this in the module's own frame");
}

function register(ports: RuntimePorts, action: HostAction & { readonly module: string }): void {
  const { name, module } = action;
  if (!name.startsWith(`${module}.`))
    throw new TypeError(`the action \`${name}\` is not of module \`${module}\`: name it \`${module}.…\``);
  if (ports.registerAction === undefined)
    throw new TypeError("this host runs no resumes: register actions where the service is");
  ports.registerAction(action);
}
