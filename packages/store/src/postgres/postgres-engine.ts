/**
 * PostgreSQL as an engine: a pool, one connection per transaction.
 *
 * Isolation: writes run READ COMMITTED. Every verb that decides something is one conditional statement or takes a
 * row lock, so a racing transaction waits and then sees the newest row; nothing has to be run again because of
 * another's reads. What remains is a deadlock, after which the whole transaction runs again, a bounded number of
 * times. Reads run REPEATABLE READ, READ ONLY: one moment of the store.
 */
import pg from "pg";
import { StoreUnavailableError, StoreUsageError } from "../errors.ts";
import { queryBuilder } from "../sql/builder.ts";
import type { Engine, RawRow, Session } from "../sql/engine.ts";
import { connectionSurvives, postgresFault } from "./postgres-fault.ts";

export interface PostgresEngineOptions {
  /** `postgres://user@host/database`, or a folder of sockets as `host` in the query. */
  readonly url: string;
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

const INT8 = 20;
/** INVARIANT: numbers of the store are safe integers; a larger one is a fault and not a rounded number. */
function int8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new StoreUnavailableError("the database holds a number that is too large");
  return value;
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === INT8 ? int8 : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

export function clientConfig(
  options: Pick<PostgresEngineOptions, "url" | "connectTimeoutMs">,
): pg.ClientConfig {
  return {
    connectionString: options.url,
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    application_name: "sallyport",
    types,
  };
}

const ignored = (): void => {};

export function openPostgresEngine(options: PostgresEngineOptions): Engine {
  const pool = new pg.Pool({
    ...clientConfig(options),
    max: options.connectionsMax,
    // WHY: the server's own timeout comes first; this one is for a server that does not answer at all.
    query_timeout: options.statementTimeoutMs + 1000,
  });
  // WHY: an idle connection that breaks is replaced by the pool; unheard, the event would end the process.
  pool.on("error", ignored);
  // INVARIANT: heard from the first moment to the last. The pool stops listening before it hands a client out, and a
  // server that ends the connection in that moment would end this process. A statement under way rejects as well.
  pool.on("connect", (client) => client.on("error", ignored));

  const opening = (mode: "read" | "write"): string =>
    [
      mode === "read"
        ? "begin isolation level repeatable read read only"
        : "begin isolation level read committed read write",
      `set local statement_timeout = ${options.statementTimeoutMs}`,
      `set local idle_in_transaction_session_timeout = ${options.statementTimeoutMs * 2}`,
      "set local synchronous_commit = on",
      // WHY: what is acknowledged as text is compared as text, whatever the role's settings are.
      "set local standard_conforming_strings = on",
    ].join("; ");

  const begin = async (mode: "read" | "write"): Promise<Session> => {
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw postgresFault(error);
    }
    let ended = false;
    const release = (error?: unknown): void => {
      ended = true;
      client.release(error !== undefined && !connectionSurvives(error));
    };
    try {
      await client.query(opening(mode));
    } catch (error) {
      release(new Error("unusable"));
      throw postgresFault(error);
    }
    let broken: unknown;
    return {
      execute: async (text, parameters) => {
        try {
          const { rows, rowCount } = await client.query<RawRow>({ text, values: [...parameters] });
          return { rows, changed: rowCount ?? 0 };
        } catch (error) {
          if (!connectionSurvives(error)) broken = error;
          throw postgresFault(error);
        }
      },
      commit: async () => {
        try {
          const { command } = await client.query("commit");
          release();
          // WHY: the server ends a failed transaction with a rollback and calls it success.
          if (command !== "COMMIT") {
            throw new StoreUsageError("a statement failed and the transaction went on: let its error out");
          }
        } catch (error) {
          if (ended) throw error;
          release(error);
          throw postgresFault(error, "commit");
        }
      },
      rollback: async () => {
        if (ended) return;
        if (broken !== undefined) {
          release(broken);
          return;
        }
        try {
          await client.query("rollback");
          release();
        } catch {
          release(new Error("unusable"));
        }
      },
    };
  };

  return {
    kind: "postgres",
    builder: queryBuilder("postgres"),
    begin,
    close: () => pool.end(),
  };
}
