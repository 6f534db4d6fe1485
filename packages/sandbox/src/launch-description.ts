/**
 * Writes the launch description, the one thing that the launcher reads (`native/launch-description.h` says how).
 * Trusts its caller for the meaning; refuses text that would not arrive as it is.
 */
import type { KernelWords } from "./egress/netlink-message.ts";
import type { FileOperation } from "./profile/landlock-right.ts";
import type { Confinement } from "./profile/confinement.ts";

export interface Launch {
  /** Absolute path of what is started. */
  readonly program: string;
  /** The program's own name first. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly confinement: Confinement;
  readonly filter: Uint8Array;
  readonly limits: ProcessLimits;
  /** 0: no end. */
  readonly wallMs: number;
  /** Absent: there is no network. */
  readonly capture?: Capture | undefined;
  /** Its streams are a terminal of its own. */
  readonly ownsTerminal: boolean;
}

/** What catches connections for the gateway, and the files that the program sees in place of others. */
export interface Capture {
  readonly catchPort: number;
  readonly words: readonly KernelWords[];
  readonly covers: readonly { readonly source: string; readonly path: string }[];
}

/** Absent: as the host has it. Core files are never written. */
export interface ProcessLimits {
  readonly openFilesMax?: number | undefined;
  readonly processesMax?: number | undefined;
  readonly fileBytesMax?: number | undefined;
  readonly memoryBytesMax?: number | undefined;
  readonly cpuSecondsMax?: number | undefined;
}

const MAGIC = "SPLNCH01";
const TAGS = {
  program: 1,
  argument: 2,
  variable: 3,
  cwd: 4,
  writable: 5,
  mask: 6,
  right: 7,
  grant: 8,
  filter: 9,
  limit: 10,
  terms: 11,
  end: 12,
  kernelWords: 20,
  cover: 21,
  catch: 22,
} as const;

const OPERATION_BITS: Readonly<Record<FileOperation, number>> = {
  read: 1,
  create: 2,
  modify: 4,
  delete: 8,
  execute: 16,
};

/** Numbers of the kernel's limits; the same on both architectures. */
const RESOURCES = { cpu: 0, fileBytes: 1, core: 4, processes: 6, openFiles: 7, memory: 9 } as const;

export function launchBytes(launch: Launch): Buffer {
  const { confinement } = launch;
  const records: Buffer[] = [Buffer.from(MAGIC, "latin1")];
  const add = (tag: keyof typeof TAGS, ...parts: readonly Uint8Array[]): void => {
    const body = Buffer.concat(parts);
    const head = Buffer.alloc(5);
    head.writeUInt8(TAGS[tag], 0);
    head.writeUInt32LE(body.length, 1);
    records.push(head, body);
  };
  add("program", text(launch.program));
  for (const argument of launch.args) add("argument", text(argument));
  for (const [name, value] of Object.entries(launch.environment)) add("variable", text(`${name}=${value}`));
  add("cwd", text(launch.cwd));
  for (const path of confinement.writable) add("writable", text(path));
  for (const path of confinement.masks) add("mask", text(path));
  for (const { rights, path } of confinement.rights) {
    add("right", long(rights & confinement.handledRights), text(path));
  }
  for (const { operations, landlocked, reach, path } of confinement.grants) {
    const head = Buffer.from([bits(operations), bits(landlocked), reach === "tree" ? 1 : 0]);
    add("grant", head, text(path));
  }
  add("filter", launch.filter);
  for (const [resource, value] of limitList(launch.limits)) add("limit", word(resource), long(BigInt(value)));
  add(
    "terms",
    long(confinement.handledRights),
    long(confinement.scopes),
    word(launch.wallMs),
    Buffer.from([launch.ownsTerminal ? 1 : 0]),
  );
  const { catchPort = 0, words = [], covers = [] } = launch.capture ?? {};
  for (const { protocol, bytes } of words) add("kernelWords", word(protocol), bytes);
  for (const { source, path } of covers) add("cover", text(source), text(path));
  if (catchPort !== 0) add("catch", word(catchPort).subarray(0, 2));
  add("end");
  return Buffer.concat(records);
}

function limitList(limits: ProcessLimits): readonly (readonly [number, number])[] {
  const { openFilesMax, processesMax, fileBytesMax, memoryBytesMax, cpuSecondsMax } = limits;
  const list: [number, number | undefined][] = [
    [RESOURCES.core, 0],
    [RESOURCES.openFiles, openFilesMax],
    [RESOURCES.processes, processesMax],
    [RESOURCES.fileBytes, fileBytesMax],
    [RESOURCES.memory, memoryBytesMax],
    [RESOURCES.cpu, cpuSecondsMax],
  ];
  return list.filter((entry): entry is [number, number] => entry[1] !== undefined);
}

function bits(operations: readonly FileOperation[]): number {
  return operations.reduce((sum, operation) => sum | OPERATION_BITS[operation], 0);
}

function text(value: string): Buffer {
  if (value.includes("\0")) throw new TypeError("text for a confined program must not hold NUL: remove it");
  return Buffer.from(`${value}\0`, "utf8");
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
