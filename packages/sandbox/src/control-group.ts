/**
 * A control group for one sandbox, where the machine lets this user have one: limits that hold for all its processes
 * together, and an end that nobody in it escapes. Version 2 where it is delegated, else version 1 where it can be written.
 * Optional: where there is none, each process has its own limits, and the profile says so.
 */
import { randomUUID } from "node:crypto";
import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessLimits } from "./launch-description.ts";

const MOUNT = "/sys/fs/cgroup";
const CONTROLLERS = ["memory", "pids"] as const;
type Controller = (typeof CONTROLLERS)[number];

export interface ControlGroup {
  /** Those of the limits that hold for the whole sandbox now. */
  readonly controllers: readonly Controller[];
  /** Everything that is started by this process from now on is in it too. */
  take(pid: number): void;
  remove(): void;
}

interface Place {
  readonly controller: Controller;
  readonly folder: string;
  readonly version: 1 | 2;
}

/** Which controllers a group could have here. */
export function findControlGroups(): readonly Controller[] {
  return places().map(({ controller }) => controller);
}

/** `undefined`: nothing is to be limited, or nothing can be. */
export function openControlGroup(limits: ProcessLimits): ControlGroup | undefined {
  const wanted = { memory: limits.memoryBytesMax, pids: limits.processesMax };
  if (wanted.memory === undefined && wanted.pids === undefined) return undefined;
  const name = `sallyport-${randomUUID()}`;
  const groups = places().flatMap((place) => {
    const value = wanted[place.controller];
    return value === undefined ? [] : made(join(place.folder, name), place, value);
  });
  if (groups.length === 0) return undefined;
  return {
    controllers: groups.map(({ controller }) => controller),
    take: (pid) => {
      for (const { folder } of groups) writeFileSync(join(folder, "cgroup.procs"), String(pid));
    },
    remove: () => {
      for (const { folder } of groups) removeEmptied(folder, REMOVALS_MAX);
    },
  };
}

/** Limits that hold for each process by itself, although they were asked for. */
export function unheldLimits(limits: ProcessLimits, hasTerminal: boolean): readonly string[] {
  const { memoryBytesMax, processesMax } = limits;
  if (memoryBytesMax === undefined && processesMax === undefined) return [];
  const held = hasTerminal ? [] : findControlGroups();
  return [
    ...(memoryBytesMax !== undefined && !held.includes("memory") ? ["memory_of_all_processes"] : []),
    ...(processesMax !== undefined && !held.includes("pids") ? ["processes_of_this_sandbox"] : []),
  ];
}

const REMOVALS_MAX = 100;
const REMOVAL_MS = 20;

/** WHY again: the kernel still ends what was in it when the sandbox is over for everybody else. */
function removeEmptied(folder: string, times: number): void {
  if (tried(() => rmdirSync(folder)) || times === 0) return;
  setTimeout(() => removeEmptied(folder, times - 1), REMOVAL_MS);
}

const LIMIT_FILES: Readonly<Record<1 | 2, Readonly<Record<Controller, string>>>> = {
  1: { memory: "memory.limit_in_bytes", pids: "pids.max" },
  2: { memory: "memory.max", pids: "pids.max" },
};

function made(folder: string, { controller, version }: Place, value: number) {
  const isMade = tried(() => {
    mkdirSync(folder);
    writeFileSync(join(folder, LIMIT_FILES[version][controller]), String(value));
  });
  if (!isMade) tried(() => rmdirSync(folder));
  return isMade ? [{ controller, folder }] : [];
}

/** The groups that this process is in, as far as it may make others in them. */
function places(): readonly Place[] {
  const lines = textOf("/proc/self/cgroup").split("\n");
  return CONTROLLERS.flatMap((controller): readonly Place[] => {
    const unified = lines.find((line) => line.startsWith("0::"))?.slice("0::".length);
    const delegated = unified === undefined ? "" : join(MOUNT, unified);
    const given = textOf(join(delegated, "cgroup.subtree_control")).split(/\s+/);
    if (delegated !== "" && given.includes(controller) && isWritable(delegated))
      return [{ controller, folder: delegated, version: 2 }];
    const own = lines
      .map((line) => line.split(":"))
      .find(([, names]) => names?.split(",").includes(controller));
    const folder = own === undefined ? "" : join(MOUNT, controller, own.slice(2).join(":"));
    return folder !== "" && isWritable(folder) ? [{ controller, folder, version: 1 }] : [];
  });
}

function isWritable(folder: string): boolean {
  return tried(() => {
    accessSync(folder, constants.W_OK);
    accessSync(join(folder, "cgroup.procs"), constants.W_OK);
  });
}

function textOf(path: string): string {
  let text = "";
  tried(() => {
    text = readFileSync(path, "utf8");
  });
  return text;
}

function tried(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
