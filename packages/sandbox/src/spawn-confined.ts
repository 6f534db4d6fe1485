/**
 * `spawn` under a confinement: like that of `child_process`, with a decision for whatever the confinement does not grant. Streams,
 * signals, exit and events of the child are the program's; its `pid` is the supervisor's, and `spawn` is emitted for that too:
 * `started` says that the program runs. What no program can be started from (no such file, no such folder) is thrown.
 * INVARIANT: there is no way through here that starts a program without the launcher.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import type { Writable } from "node:stream";
import type { SandboxProfile } from "@sallyport/contract";
import { Broker, type Decide, type Recorder } from "./broker.ts";
import { openControlGroup } from "./control-group.ts";
import { confinedEnvironment } from "./environment.ts";
import type { EgressGateway, EgressOptions } from "./egress/egress-gateway.ts";
import { type Egress, openEgress } from "./egress/open-egress.ts";
import { SandboxError } from "./errors.ts";
import { type ProcessLimits, launchBytes } from "./launch-description.ts";
import type { Confinement } from "./profile/confinement.ts";
import { isWithin } from "./profile/covered-path.ts";
import { recordedProfile } from "./recorded-profile.ts";
import { assembleFilter, filterBytes } from "./seccomp/assemble-filter.ts";
import { filterRules } from "./seccomp/filter-rule.ts";
import type { Architecture } from "./seccomp/syscall-number.ts";
import {
  type FamiliarOptions,
  endOptions,
  hearingKill,
  programWords,
  requireKnownOptions,
  streams,
} from "./spawn-options.ts";
import type { TrapSet } from "./trap-set.ts";
import type { TrappedCall } from "./trapped-call.ts";

export interface ConfinedOptions extends FamiliarOptions {
  readonly confinement: Confinement;
  readonly decide: Decide;
  /** Added to the few names that are inherited. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** For Sallyport's own guard inside: what no host may give. */
  readonly guardEnv?: Readonly<Record<string, string>> | undefined;
  /** The streams are the person's terminal: the program gets one of its own, carried by this program. */
  readonly terminalRelay?: string | undefined;
  readonly limits?: ProcessLimits | undefined;
  /** The sandbox ends then, whatever runs in it. */
  readonly wallMs?: number | undefined;
  /** Needed where the confinement has a gateway. */
  readonly egress?: EgressOptions | undefined;
  /** The sandbox itself failed, at its start or while the program ran. */
  readonly onFailed?: ((error: SandboxError) => void) | undefined;
  readonly onViolation?: ((call: TrappedCall) => void) | undefined;
  /** Puts on record what is granted and destroys, before it is done; `deny`: it may not be done where it waits. */
  readonly record?: Recorder | undefined;
  /** The user that the sandbox runs as; only root may name one. */
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface Confined {
  readonly child: ChildProcess;
  readonly profile: SandboxProfile;
  /** The way out, where the confinement has one. */
  readonly gateway: Pick<EgressGateway, "recheck" | "close" | "openCount"> | undefined;
  /** The program runs; rejects where it never did. */
  readonly started: Promise<void>;
  /**
   * From now on nothing is granted without a question: for a rule that came after the start. Resolves when the supervisor
   * holds to it, or is over.
   */
  readonly narrow: () => Promise<void>;
  /** The sandbox is over, and all that it was granted and that destroyed is on record. */
  readonly recorded: Promise<void>;
}

/** WHY a table by type: an option that is added must be listed here, or it does not compile. */
const OPTIONS: Readonly<Record<keyof ConfinedOptions, true>> = {
  confinement: true,
  decide: true,
  cwd: true,
  env: true,
  guardEnv: true,
  stdio: true,
  terminalRelay: true,
  limits: true,
  wallMs: true,
  egress: true,
  onFailed: true,
  onViolation: true,
  record: true,
  identity: true,
  argv0: true,
  shell: true,
  signal: true,
  timeout: true,
  killSignal: true,
  windowsHide: true,
  windowsVerbatimArguments: true,
};
const filters = new Map<TrapSet, Uint8Array>();

/** WHY kept: it is the same for every program. */
function filterOf(trapSet: TrapSet): Uint8Array {
  const held = filters.get(trapSet);
  if (held !== undefined) return held;
  const made = filterBytes(assembleFilter(filterRules(trapSet), process.arch as Architecture));
  filters.set(trapSet, made);
  return made;
}

export function spawnConfined(
  launcher: string,
  command: string,
  args: readonly string[],
  options: ConfinedOptions,
): Confined {
  requireKnownOptions(options, OPTIONS);
  if (options.confinement.writable.some((place) => isWithin(launcher, place))) {
    const message = `a rule allows changes to the launcher \`${launcher}\`: narrow the rule, or keep the cache elsewhere`;
    throw new SandboxError("sandbox_profile", message);
  }
  const egress = openEgress(options.confinement, options.egress);
  try {
    return launched(launcher, [command, ...args], options, egress);
  } catch (error) {
    // WHY: nothing ran, so that nothing else would end it.
    egress.close();
    throw error;
  }
}

function launched(
  launcher: string,
  [command = "", ...args]: readonly string[],
  options: ConfinedOptions,
  egress: Egress,
): Confined {
  const { limits = {}, wallMs = 0, identity, terminalRelay } = options;
  const cwd = findFolder(options.cwd ?? process.cwd());
  const program = programWords(command, args, options);
  const { confinement, capture } = egress;
  const given = { ...egress.environment, ...options.env };
  const environment = confinedEnvironment(process.env, given, options.guardEnv);
  const bytes = launchBytes({
    program: findProgram(program.command, environment["PATH"] ?? "", cwd),
    args: program.words,
    environment,
    cwd,
    confinement,
    filter: filterOf(confinement.trapSet),
    limits,
    wallMs,
    capture,
    ownsTerminal: terminalRelay !== undefined,
  });
  const stdio = streams(options.stdio);
  const kept = stdio.length;
  const words = [launcher, String(kept), String(kept + 1), String(kept)];
  const [starter = launcher, ...starterArgs] =
    terminalRelay === undefined ? words : [terminalRelay, ...words];
  // WHY not with a relay: the launcher is then a child of what is started here, and could be ahead of its group.
  const group = terminalRelay === undefined ? openControlGroup(limits) : undefined;
  const child = spawn(starter, starterArgs, {
    cwd: "/",
    env: {},
    stdio: [...stdio, "ipc", "pipe"] as StdioOptions,
    ...identity,
    ...endOptions(options),
  });
  hearingKill(child);
  child.once("close", () => group?.remove());
  // INVARIANT: before its description the launcher starts nothing, so everything in the sandbox is in the group.
  if (child.pid !== undefined) group?.take(child.pid);
  (child.stdio[kept + 1] as Writable | null | undefined)?.on("error", () => undefined).end(bytes);
  const profile = recordedProfile(confinement, { cwd, limits, hasTerminal: terminalRelay !== undefined });
  return Object.freeze({ child, profile, gateway: egress.gateway, ...attend(child, options, egress) });
}

function attend(
  child: ChildProcess,
  { decide, onViolation, onFailed, record = () => Promise.resolve("allow") }: ConfinedOptions,
  egress: Egress,
): Pick<Confined, "started" | "narrow" | "recorded"> {
  const send = (text: string): void => {
    if (child.connected) child.send(text, () => undefined);
  };
  const narrowing: (() => void)[] = [];
  const narrowed = (): void => {
    for (const resolve of narrowing.splice(0)) resolve();
  };
  const records = new Set<Promise<void>>();
  const started = new Promise<void>((resolve, reject) => {
    const broker = new Broker({
      decide,
      record,
      send,
      onViolation: onViolation ?? (() => undefined),
      onStarted: resolve,
      onNarrowed: narrowed,
      onFailed: (step, error) => {
        onFailed?.(failure(step, error));
        reject(failure(step, error));
      },
      onStrange: () => child.kill("SIGKILL"),
    });
    child.on("message", (message, handle) => {
      if (egress.take(message, handle)) return;
      const taken = broker.take(message).finally(() => records.delete(taken));
      records.add(taken);
    });
    child.on("error", (error) => {
      // WHY: an error of what runs (it was aborted, a signal could not be sent) is no end of it; that is told by `exit`.
      if (child.pid !== undefined) return reject(error);
      egress.close();
      reject(new SandboxError("sandbox_failed", error.message, "launcher"));
    });
    child.once("exit", () => {
      broker.close();
      egress.close();
      narrowed();
      reject(failure("first_process", 0));
    });
  });
  // WHY: whoever does not ask whether it started still hears of its end.
  started.catch(() => undefined);
  const narrow = (): Promise<void> =>
    new Promise((resolve) => {
      if (!child.connected) return resolve();
      narrowing.push(resolve);
      send("narrow");
    });
  return { started, narrow, recorded: recordedEnd(child, records) };
}

/** WHY the end of the channel: what was said before the exit may be heard after it. */
async function recordedEnd(child: ChildProcess, records: ReadonlySet<Promise<void>>): Promise<void> {
  if (child.connected) await new Promise((resolve) => child.once("disconnect", resolve));
  while (records.size > 0) await Promise.all(records);
}

function failure(step: string, error: number): SandboxError {
  const message = `the sandbox ended at step \`${step}\` (error ${error}): run \`sallyport doctor\``;
  return new SandboxError("sandbox_failed", message, step);
}

function findFolder(given: string | URL): string {
  try {
    return realpathSync(given);
  } catch (error) {
    const { code: errno } = error as NodeJS.ErrnoException;
    const message = `\`${String(given)}\` is no folder that a program can start in: name one that is there`;
    throw Object.assign(new SandboxError("sandbox_failed", message, "cwd"), { errno });
  }
}

/** As a shell would find it. */
function findProgram(command: string, path: string, cwd: string): string {
  const candidates = command.includes("/")
    ? [isAbsolute(command) ? command : join(cwd, command)]
    : path
        .split(":")
        .filter(isAbsolute)
        .map((folder) => join(folder, command));
  const found = candidates.find(isProgram);
  if (found === undefined) {
    const message = `\`${command}\` is no program: name one that is there and may be started`;
    throw Object.assign(new SandboxError("sandbox_failed", message, "program"), { errno: "ENOENT" });
  }
  return normalize(found);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
