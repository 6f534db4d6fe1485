/**
 * Starts a program with its own end of the gate. Who it is, is the socket: the environment says only which descriptor
 * that is, and a program that changes the number finds another descriptor of its own or none.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import type { CallerContext } from "@sallyport/contract";

export const GATE_FD_VARIABLE = "SALLYPORT_GATE_FD";

export type AttachChild = (socket: Duplex, caller: CallerContext) => { close(): void };

export interface ChildParts {
  readonly caller: CallerContext;
  readonly attachChild: AttachChild;
  /** The child is over: what it stood on may go. */
  readonly letGo: () => void;
}

export type ChildSpawnOptions = Omit<SpawnOptions, "detached">;

const STANDARD = 3;

export function spawnChild(
  { caller, attachChild, letGo }: ChildParts,
  command: string,
  args: readonly string[],
  options: ChildSpawnOptions,
): ChildProcess {
  const { stdio: given = "pipe", env = process.env } = options;
  const stdio = Array.isArray(given) ? [...given] : [given, given, given];
  while (stdio.length < STANDARD) stdio.push("pipe");
  const descriptor = stdio.push("pipe") - 1;
  let child: ChildProcess;
  try {
    child = spawn(command, [...args], {
      ...options,
      stdio: stdio as SpawnOptions["stdio"],
      env: { ...env, [GATE_FD_VARIABLE]: String(descriptor) },
    } as SpawnOptions);
  } catch (error) {
    letGo();
    throw error;
  }
  const session = attachChild(child.stdio[descriptor as 3] as unknown as Duplex, caller);
  const over = (): void => {
    session.close();
    letGo();
  };
  child.once("exit", over);
  child.once("error", over);
  return child;
}
