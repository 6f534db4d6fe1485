/**
 * The seam between the queries, which are written once, and an engine, which runs them.
 * An engine hands out sessions: one connection in one transaction. Driver errors become store errors in the
 * engine; nothing above it knows a driver.
 */
import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

export type EngineKind = "sqlite" | "postgres";

/** What both engines can keep exactly. */
export type Parameter = string | number | null | Uint8Array;
export type RawRow = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly rows: readonly RawRow[];
  readonly changed: number;
}

/** How many rows the caller looks at. */
export type Wanted = "all" | "first";

/** Tables with rows that an engine may index later. */
export type LateTable = "event" | "approval" | "request";

export interface LateIndexing {
  /** So many rows were just appended. */
  leave(table: Exclude<LateTable, "request">, count: number): void;
  /** A request was just settled. */
  leaveRequest(id: string): void;
  /** Whatever was left is found from now on. False: it cannot be written now, and has to be searched for without. */
  settle(table: LateTable): boolean;
}

/** INVARIANT: ends with exactly one of `commit` and `rollback`; `rollback` never rejects. */
export interface Session {
  /**
   * An engine in this process answers at once. WHY: a promise for every statement costs as much as the statement.
   * @param wanted `first`: an engine may leave out all rows but one
   */
  execute(text: string, parameters: readonly Parameter[], wanted?: Wanted): Answer | Promise<Answer>;
  /**
   * Rows that searches and lists must find are left for a later index, or found by it from now on. Only where the engine
   * does so.
   * WHY: most of what the commit of a decision writes are indexes that nobody needs before the next search.
   */
  readonly lateIndex?: LateIndexing;
  commit(): Promise<void> | void;
  rollback(): Promise<void>;
}

export interface Engine {
  readonly kind: EngineKind;
  /** Builds queries only; it has no connection. */
  readonly builder: Kysely<Schema>;
  /** At once where it can be. Fails with a store error within a bounded time. */
  begin(mode: "read" | "write"): Promise<Session> | Session;
  close(): Promise<void>;
}

/** The transaction lost against another one and had no effect: run it again. Never leaves the store. */
export class TransactionLost extends Error {
  override readonly name = "TransactionLost";
}
