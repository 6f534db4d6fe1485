/**
 * `spawn` under a confinement: like that of `child_process`, with a decision for whatever the confinement does not grant.
 * INVARIANT: there is no way through here that starts a program without the launcher.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import type { Writable } from "node:stream";
import type { SandboxProfile } from "@sallyport/contract";
import { Broker, type Decide } from "./broker.ts";
import { confinedEnvironment } from "./environment.ts";
import { SandboxError } from "./errors.ts";
import { type ProcessLimits, launchBytes } from "./launch-description.ts";
import type { Confinement } from "./profile/confinement.ts";
import { isWithin } from "./profile/covered-path.ts";
import { recordedProfile } from "./recorded-profile.ts";
import { assembleFilter, filterBytes } from "./seccomp/assemble-filter.ts";
import { filterRules } from "./seccomp/filter-rule.ts";
import type { Architecture } from "./seccomp/syscall-number.ts";
import type { TrappedCall } from "./trapped-call.ts";

export interface ConfinedOptions {
  readonly confinement: Confinement;
  readonly decide: Decide;
  readonly cwd?: string | undefined;
  /** Added to the few names that are inherited. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly stdio?: StdioOptions | undefined;
  readonly limits?: ProcessLimits | undefined;
  /** The sandbox ends then, whatever runs in it. */
  readonly wallMs?: number | undefined;
  readonly onViolation?: ((call: TrappedCall) => void) | undefined;
  /** The user that the sandbox runs as; only root may name one. */
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface Confined {
  readonly child: ChildProcess;
  readonly profile: SandboxProfile;
  /** The program runs; rejects where it never did. */
  readonly started: Promise<void>;
  /** From now on nothing is granted without a question: for a rule or denial that came after the start. */
  readonly narrow: () => void;
}

const STANDARD = 3;

export function spawnConfined(
  launcher: string,
  command: string,
  args: readonly string[],
  options: ConfinedOptions,
): Confined {
  const { confinement, limits = {}, wallMs = 0, identity } = options;
  if (confinement.writable.some((place) => isWithin(launcher, place))) {
    const message = `a rule allows changes to the launcher \`${launcher}\`: narrow the rule, or keep the cache elsewhere`;
    throw new SandboxError("sandbox_profile", message);
  }
  const environment = confinedEnvironment(process.env, options.env ?? {});
  const cwd = realpathSync(options.cwd ?? process.cwd());
  const bytes = launchBytes({
    program: findProgram(command, environment["PATH"] ?? "", cwd),
    args: [command, ...args],
    environment,
    cwd,
    confinement,
    filter: filterBytes(assembleFilter(filterRules(confinement.trapSet), process.arch as Architecture)),
    limits,
    wallMs,
  });
  const stdio = streams(options.stdio);
  const kept = stdio.length;
  const child = spawn(launcher, [String(kept), String(kept + 1), String(kept)], {
    cwd: "/",
    env: {},
    stdio: [...stdio, "ipc", "pipe"] as StdioOptions,
    ...identity,
  });
  (child.stdio[kept + 1] as Writable | null | undefined)?.on("error", () => undefined).end(bytes);
  const profile = recordedProfile(confinement, { cwd, limits });
  return Object.freeze({ child, profile, ...attend(child, options) });
}

function attend(
  child: ChildProcess,
  { decide, onViolation }: ConfinedOptions,
): Pick<Confined, "started" | "narrow"> {
  const send = (text: string): void => {
    if (child.connected) child.send(text, () => undefined);
  };
  const started = new Promise<void>((resolve, reject) => {
    const broker = new Broker({
      decide,
      send,
      onViolation: onViolation ?? (() => undefined),
      onStarted: resolve,
      onFailed: (step, error) => reject(failure(step, error)),
      onStrange: () => child.kill("SIGKILL"),
    });
    child.on("message", (message) => void broker.take(message));
    child.once("error", (error) => reject(new SandboxError("sandbox_failed", error.message, "launcher")));
    child.once("exit", () => {
      broker.close();
      reject(failure("first_process", 0));
    });
  });
  // WHY: whoever does not ask whether it started still hears of its end.
  started.catch(() => undefined);
  return { started, narrow: () => send("narrow") };
}

function failure(step: string, error: number): SandboxError {
  const message = `the sandbox ended at step \`${step}\` (error ${error}): run \`sallyport doctor\``;
  return new SandboxError("sandbox_failed", message, step);
}

function streams(given: StdioOptions = "pipe"): readonly unknown[] {
  const list: unknown[] = Array.isArray(given) ? [...given] : [given, given, given];
  while (list.length < STANDARD) list.push("pipe");
  if (list.includes("ipc"))
    throw new SandboxError("sandbox_profile", "a confined program has no `ipc` stream: use a `pipe`");
  return list;
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
