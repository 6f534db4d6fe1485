/**
 * Starts a program with its own end of the gate. Who it is, is the socket: the environment says only which descriptor
 * that is, and a program that changes the number finds another descriptor of its own or none.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import type { CallerContext } from "@sallyport/contract";
import type { SubjectInput } from "../sdk/sdk.ts";
import type { HostedSubject, HostedSubjects } from "./hosted-subjects.ts";

export const GATE_FD_VARIABLE = "SALLYPORT_GATE_FD";

export interface AttachOptions {
  /** Sensitive imports that a child may use, by the names that manifests list. */
  readonly imports?: readonly string[] | undefined;
  /** Subjects that the child's program may run in its own process. */
  readonly hosted?: readonly HostedSubject[] | undefined;
}

export type AttachChild = (
  socket: Duplex,
  caller: CallerContext,
  options?: AttachOptions,
) => { close(): void };

export interface ChildParts {
  readonly caller: CallerContext;
  readonly attachChild: AttachChild;
  /** Sensitive imports that the manifest of the active subject lists. */
  readonly ownImports: () => readonly string[];
  readonly enterHosted: (subjects: readonly SubjectInput[]) => HostedSubjects;
  /** The child is over: what it stood on may go. */
  readonly letGo: () => void;
}

export interface ChildSpawnOptions extends Omit<SpawnOptions, "detached"> {
  /**
   * `task_subprocess`, unless said: the rules of the subject, and no sensitive imports. `own`: the process is the subject's
   * own, and has the imports that its manifest lists.
   */
  readonly use?: "own" | "task_subprocess" | undefined;
  /**
   * Subjects that the program may run in its own process by `connectRuntime().run`, on top of the subject of now. They share
   * one process: told apart by the guard, not walled off from each other. None unless said.
   */
  readonly subjects?: readonly SubjectInput[] | undefined;
}

const STANDARD = 3;

export function spawnChild(
  { caller, attachChild, ownImports, enterHosted, letGo }: ChildParts,
  command: string,
  args: readonly string[],
  { use, subjects = [], ...options }: ChildSpawnOptions,
): ChildProcess {
  const { stdio: given = "pipe", env = process.env } = options;
  const stdio = Array.isArray(given) ? [...given] : [given, given, given];
  while (stdio.length < STANDARD) stdio.push("pipe");
  const descriptor = stdio.push("pipe") - 1;
  let held: HostedSubjects | undefined;
  let child: ChildProcess;
  try {
    held = enterHosted(subjects);
    child = spawn(command, [...args], {
      ...options,
      stdio: stdio as SpawnOptions["stdio"],
      env: { ...env, [GATE_FD_VARIABLE]: String(descriptor) },
    } as SpawnOptions);
  } catch (error) {
    held?.leave();
    letGo();
    throw error;
  }
  const session = attachChild(child.stdio[descriptor as 3] as unknown as Duplex, caller, {
    imports: use === "own" ? ownImports() : [],
    hosted: held.hosted,
  });
  const over = (): void => {
    session.close();
    held.leave();
    letGo();
  };
  child.once("exit", over);
  child.once("error", over);
  return child;
}
