/**
 * Landlock rights: which bits stand for which operation, and since which version of the kernel's interface.
 */
import type { OperationOf } from "@sallyport/contract";

export type FileOperation = OperationOf<"filesystem">;

/** Versions before have no right to truncate: a file that may be read could be emptied. */
export const LANDLOCK_VERSION_MIN = 3;

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const REMOVE_DIR = 1n << 4n;
const REMOVE_FILE = 1n << 5n;
const MAKE_DIR = 1n << 7n;
const MAKE_REG = 1n << 8n;
const MAKE_FIFO = 1n << 10n;
const MAKE_SYM = 1n << 12n;
/** Renames and links from one folder to another. */
export const REFER = 1n << 13n;
/** The kernel looks for it with every open, as far up as the root where no rule below has it. */
export const TRUNCATE = 1n << 14n;
export const DEVICE_CONTROL = 1n << 15n;

const ALL_BEFORE_DEVICE_CONTROL = (1n << 15n) - 1n;
const DEVICE_CONTROL_SINCE = 5;
const SCOPES_SINCE = 6;
/** Abstract unix sockets and signals do not leave the sandbox. */
const SCOPES = 0b11n;

/** WHY read beside execute: the kernel opens a program for reading too. */
export const OPERATION_RIGHTS: Readonly<Record<FileOperation, bigint>> = {
  read: READ_FILE | READ_DIR,
  create: MAKE_REG | MAKE_DIR | MAKE_SYM | MAKE_FIFO,
  modify: WRITE_FILE | TRUNCATE,
  delete: REMOVE_FILE | REMOVE_DIR,
  execute: EXECUTE | READ_FILE,
};

/** Only to start what may be read: the right to read is there already. */
export const START_RIGHT: bigint = EXECUTE;

export function handledRights(version: number): bigint {
  return version >= DEVICE_CONTROL_SINCE
    ? ALL_BEFORE_DEVICE_CONTROL | DEVICE_CONTROL
    : ALL_BEFORE_DEVICE_CONTROL;
}

export function handledScopes(version: number): bigint {
  return version >= SCOPES_SINCE ? SCOPES : 0n;
}
