/**
 * Errors of SQLite in the words of the store. The text of a driver names tables and files and never goes out.
 */
import { StoreConflictError, StoreUnavailableError } from "../errors.ts";

/** Primary result codes of SQLite, with what to do. */
const FAULTS: Readonly<Record<number, readonly [name: string, message: string]>> = {
  3: ["SQLITE_PERM", "the store file may not be opened: give this user access to it"],
  5: ["SQLITE_BUSY", "the store is locked by another process: stop what reads it and try again"],
  6: ["SQLITE_LOCKED", "the store is locked by another process: stop what reads it and try again"],
  7: ["SQLITE_NOMEM", "there is not enough memory for the store: free some and try again"],
  8: ["SQLITE_READONLY", "the store file is read-only: give this user the right to write it and its folder"],
  10: ["SQLITE_IOERR", "the disk of the store failed: check the disk and its free space, then try again"],
  11: ["SQLITE_CORRUPT", "the store file is damaged: stop the service and restore a backup"],
  13: ["SQLITE_FULL", "the disk of the store is full: free some space, the store goes on by itself"],
  14: ["SQLITE_CANTOPEN", "the store file cannot be opened: check that its folder exists and may be written"],
  23: ["SQLITE_AUTH", "the store file may not be used: check its rights"],
  26: ["SQLITE_NOTADB", "the file is not a store, or is damaged: name another file or restore a backup"],
};

const CONSTRAINT = 19;
const IOERR = 10;

/** The primary result code, or null where the error is none of SQLite's. */
export function sqliteCode(error: unknown): number | null {
  const { rawCode, errcode } = error as { rawCode?: unknown; errcode?: unknown };
  const code = typeof rawCode === "number" ? rawCode : errcode;
  return typeof code === "number" ? code & 0xff : null;
}

export const isBusy = (error: unknown): boolean => [5, 6].includes(sqliteCode(error) ?? -1);

export function sqliteFault(error: unknown, phase: "statement" | "commit" = "statement"): Error {
  if (error instanceof StoreUnavailableError) return error;
  const code = sqliteCode(error);
  if (code === CONSTRAINT) {
    return new StoreConflictError(
      "a row with this key exists, or one that it refers to does not: read it first",
    );
  }
  const [driverCode, message] = FAULTS[code ?? -1] ?? [
    code === null ? null : `SQLITE_${code}`,
    "the store could not answer: see the driver's code",
  ];
  // WHY: a failed write or sync at the end may or may not have reached the disk.
  return new StoreUnavailableError(message, {
    driverCode,
    applied: phase === "commit" && code === IOERR ? "unknown" : "no",
  });
}
