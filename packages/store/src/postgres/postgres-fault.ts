/**
 * Errors of PostgreSQL and of the way to it in the words of the store. The driver's text can hold hosts, names and
 * values; it never goes out.
 */
import { type Applied, StoreConflictError, StoreUnavailableError } from "../errors.ts";
import { TransactionLost } from "../sql/engine.ts";

const CONFLICTS = new Set(["23505", "23503", "23514", "23502", "23P01"]);
/** Serialization failure, deadlock. */
const LOST = new Set(["40001", "40P01"]);

const FAULTS: Readonly<Record<string, string>> = {
  "57014": "a statement took longer than the store allows: try again when the database is less busy",
  "55P03": "a row was locked for longer than the store allows: try again",
  "25006": "the database is read-only: connect to the primary server",
  "25P03": "a transaction was idle for too long and was ended: do nothing slow inside a transaction",
  "53100": "the disk of the database is full: free some space, the store goes on by itself",
  "53300": "the database has no connection left: raise its limit or lower the pool's",
  "28P01": "the database refused the password: correct the connection settings",
  "28000": "the database refused the user: correct the connection settings",
  "3D000": "the database does not exist: create it, then start again",
};

export function sqlState(error: unknown): string | null {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : null;
}

/** Whether the connection can still be used: only where the server itself answered, and did not say goodbye. */
export function connectionSurvives(error: unknown): boolean {
  const state = sqlState(error);
  return state !== null && /^[0-9A-Z]{5}$/.test(state) && !/^(?:08|57P|25P0[34]|EPIPE)/.test(state);
}

export function postgresFault(error: unknown, phase: "statement" | "commit" = "statement"): Error {
  if (error instanceof StoreUnavailableError) return error;
  const state = sqlState(error);
  if (state !== null && LOST.has(state)) return new TransactionLost();
  if (state !== null && CONFLICTS.has(state)) {
    return new StoreConflictError(
      "a row with this key exists, or one that it refers to does not: read it first",
    );
  }
  const survives = connectionSurvives(error);
  const applied: Applied = phase === "commit" && !survives ? "unknown" : "no";
  const message =
    (state === null ? undefined : FAULTS[state]) ??
    (survives
      ? "the database could not answer: see the driver's code"
      : "the database cannot be reached: check that it runs and that the connection settings are right");
  return new StoreUnavailableError(message, { driverCode: state, applied });
}
