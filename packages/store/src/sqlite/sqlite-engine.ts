/**
 * SQLite as an engine: one process, one connection, one transaction at a time, durable at commit.
 *
 * INVARIANT: the connection holds SQLite's own exclusive lock on the file from the first statement to the end of
 * the process (`locking_mode=EXCLUSIVE`). It keeps every other process out, dies with this one, and makes WAL
 * safe on versions before 3.51.3, whose WAL can be damaged by two connections.
 * INVARIANT: nothing in this process opens the store file by other means: closing any descriptor of a file drops
 * all POSIX locks that the process holds on it.
 */
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { StoreOwnedError, StoreUnavailableError, StoreUsageError } from "../errors.ts";
import { queryBuilder } from "../sql/builder.ts";
import type { Answer, Engine, Parameter, Session, Wanted } from "../sql/engine.ts";
import { type SqliteConnection, connect } from "./driver.ts";
import { LateIndex } from "./late-index.ts";
import { LoopTurn } from "./loop-turn.ts";
import { readOwner, removeOwner, writeOwner } from "./owner-record.ts";
import { isBusy, sqliteFault } from "./sqlite-fault.ts";
import { TurnQueue } from "./turn-queue.ts";

export interface SqliteEngineOptions {
  /** How long to wait for another owner to go. */
  readonly ownerWaitMs: number;
  /** How long a transaction waits for its turn. */
  readonly waitMs: number;
  /** Recorded beside the store, for whoever finds it owned. */
  readonly version: string;
}

const OWNER_POLL_MS = 25;
/** RETURNING on the one hand, strict tables on the other. */
const SQLITE_VERSION_MIN = [3, 37, 0] as const;

/**
 * What a reader may run. WHY not `query_only`: every change of that pragma makes SQLite compile all kept statements
 * anew, which costs several times what they need to run.
 */
const READING = /^\s*(?:select|with recursive)\b(?!.*\b(?:insert|update|delete|replace)\b)/is;
const NOT_A_READ = "a read cannot change the store: use a transaction";

export interface SqliteEngine extends Engine {
  /** Writes a whole copy to a new file. */
  copyTo(path: string): Promise<void>;
}

export async function openSqliteEngine(path: string, options: SqliteEngineOptions): Promise<SqliteEngine> {
  makePrivateFile(path);
  const connection = await own(path, options);
  const turns = new TurnQueue(options.waitMs);
  const loop = new LoopTurn();
  const lateIndex = new LateIndex(connection);
  /** Where a rollback failed; it is tried again before the next transaction. */
  let unfinished = false;
  let closed = false;

  const begin = (mode: "read" | "write"): Session | Promise<Session> => {
    const turn = turns.take();
    return turn === undefined ? began(mode) : turn.then(() => began(mode));
  };

  const began = (mode: "read" | "write"): Session => {
    try {
      if (closed) throw new StoreUsageError("the store is closed: open it again");
      if (unfinished) abandon();
      connection.exec(mode === "read" ? "begin" : "begin immediate");
    } catch (error) {
      turns.next();
      throw error instanceof StoreUsageError ? error : sqliteFault(error);
    }
    return session(mode);
  };

  const abandon = (): void => {
    lateIndex.undone();
    try {
      connection.exec("rollback");
      unfinished = false;
    } catch (error) {
      // WHY: SQLite rolls back by itself after some faults, and says then that there is nothing to roll back.
      unfinished = !/no transaction is active/.test(String(error));
    }
  };

  const session = (mode: "read" | "write"): Session => {
    let ended = false;
    const inSession = <T>(work: () => T): T => {
      // INVARIANT: a statement that nobody waited for never runs outside its transaction.
      if (ended) throw new StoreUsageError("the transaction has ended: wait for its statements");
      try {
        return work();
      } catch (error) {
        throw sqliteFault(error);
      }
    };
    const run = (text: string, parameters: readonly Parameter[], wanted: Wanted | undefined): Answer =>
      inSession(() => connection.run(text, parameters, wanted));
    return {
      execute: (text, parameters, wanted) => {
        if (mode === "read" && !READING.test(text)) throw new StoreUsageError(NOT_A_READ);
        return loop.isDue
          ? loop.take().then(() => run(text, parameters, wanted))
          : run(text, parameters, wanted);
      },
      lateIndex: {
        leave: (table, count) => inSession(() => lateIndex.leave(table, count)),
        leaveRequest: (id) => inSession(() => lateIndex.leaveRequest(id)),
        settle: (table) =>
          inSession(() => (mode === "read" ? lateIndex.settleInRead(table) : lateIndex.settle(table))),
      },
      commit: () => {
        ended = true;
        try {
          connection.exec("commit");
          lateIndex.committed();
        } catch (error) {
          abandon();
          throw sqliteFault(error, "commit");
        } finally {
          turns.next();
        }
      },
      rollback: async () => {
        if (ended) return;
        ended = true;
        abandon();
        turns.next();
      },
    };
  };

  return {
    kind: "sqlite",
    builder: queryBuilder("sqlite"),
    begin,
    copyTo: async (target) => {
      await turns.take();
      try {
        writeCopy(connection, target);
      } finally {
        turns.next();
      }
    },
    close: async () => {
      await turns.take();
      closed = true;
      try {
        removeOwner(path);
        letGo(connection);
      } catch (error) {
        throw sqliteFault(error);
      } finally {
        turns.next();
      }
    },
  };
}

/** The copy is readable by its owner only, whole or not there at all, and on the disk when this returns. */
function writeCopy(connection: SqliteConnection, target: string): void {
  let file: number;
  try {
    file = openSync(target, "wx", 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new StoreUsageError(`\`${target}\` exists: name a new file for the backup`);
    throw new StoreUnavailableError("the backup cannot be written: check that its folder exists", {
      driverCode: code ?? null,
    });
  }
  try {
    connection.run("vacuum into ?", [target]);
    fsyncSync(file);
  } catch (error) {
    rmSync(target, { force: true });
    throw sqliteFault(error);
  } finally {
    closeSync(file);
  }
}

/** WHY: exclusive creation never opens a file that exists, so no lock of this process can be lost by it. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    throw new StoreUnavailableError(
      "the store file cannot be made: check that its folder exists and may be written",
      { driverCode: code ?? null },
    );
  }
}

async function own(path: string, options: SqliteEngineOptions): Promise<SqliteConnection> {
  const giveUpAt = Date.now() + options.ownerWaitMs;
  for (;;) {
    const connection = tryToOwn(path);
    if (connection !== null) {
      try {
        writeOwner(path, options.version);
      } catch (error) {
        connection.close();
        throw new StoreUnavailableError(
          "the owner record beside the store cannot be written: give this user the right to write the folder",
          { driverCode: (error as NodeJS.ErrnoException).code ?? null },
        );
      }
      return connection;
    }
    if (Date.now() >= giveUpAt) throw new StoreOwnedError(path, readOwner(path));
    await delay(OWNER_POLL_MS + Math.random() * OWNER_POLL_MS);
  }
}

/** `null` where another connection holds the file. */
function tryToOwn(path: string): SqliteConnection | null {
  let connection: SqliteConnection | null = null;
  try {
    connection = connect(path);
    // WHY: no waiting inside SQLite, which would stop the event loop.
    connection.exec("pragma busy_timeout = 0");
    connection.exec("pragma locking_mode = exclusive");
    connection.exec("pragma journal_mode = wal");
    // The lock is taken by the first transaction and kept from then on.
    connection.exec("begin exclusive");
    connection.exec("commit");
    for (const pragma of [
      "synchronous = full",
      "foreign_keys = on",
      "trusted_schema = off",
      "cell_size_check = on",
    ]) {
      connection.exec(`pragma ${pragma}`);
    }
    checkVersion(connection);
    expectPragma(connection, "locking_mode", "exclusive");
    expectPragma(connection, "journal_mode", "wal");
    expectPragma(connection, "synchronous", 2);
    expectPragma(connection, "foreign_keys", 1);
    return connection;
  } catch (error) {
    connection?.close();
    if (isBusy(error)) return null;
    throw sqliteFault(error);
  }
}

/**
 * Gives the lock back now, whatever the driver keeps open, and leaves one file without a log beside it.
 * Where that fails the lock goes with the process, and the next owner reads the log.
 */
function letGo(connection: SqliteConnection): void {
  try {
    connection.exec("pragma journal_mode = delete");
    connection.exec("pragma locking_mode = normal");
    connection.run("select count(*) from sqlite_schema");
  } finally {
    connection.close();
  }
}

function expectPragma(connection: SqliteConnection, pragma: string, expected: string | number): void {
  const [row] = connection.run(`pragma ${pragma}`).rows;
  const found = row === undefined ? undefined : Object.values(row)[0];
  if (found !== expected) {
    throw new StoreUnavailableError(
      `SQLite did not accept \`${pragma} = ${expected}\`: put the store on a local disk that supports locks`,
    );
  }
}

function checkVersion(connection: SqliteConnection): void {
  const [row] = connection.run("select sqlite_version() as version").rows;
  const version = String(row?.["version"]);
  const parts = version.split(".").map(Number);
  for (const [index, least] of SQLITE_VERSION_MIN.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least || Number.isNaN(part)) {
      throw new StoreUnavailableError(
        `SQLite ${version} is too old: use a Node that brings ${SQLITE_VERSION_MIN.join(".")} or later`,
      );
    }
  }
}
