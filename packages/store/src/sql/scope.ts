/**
 * One transaction as the verbs see it: runs their queries, checks every value that goes in, and dies with the
 * transaction. Trusts its session; trusts no parameter.
 */
import type { Compilable, Kysely } from "kysely";
import { StoreUsageError, StoreValueError } from "../errors.ts";
import type {
  Answer,
  Engine,
  EngineKind,
  LateIndexing,
  LateTable,
  Parameter,
  Session,
  Wanted,
} from "./engine.ts";
import type { Schema } from "./schema.ts";

/** Text that PostgreSQL (NUL) or UTF-8 (half a surrogate pair) cannot hold; two such texts could become one. */
function isUnkeepable(text: string): boolean {
  return text.includes("\0") || !(text as string & { isWellFormed(): boolean }).isWellFormed();
}

export class Scope {
  readonly kind: EngineKind;
  readonly build: Kysely<Schema>;
  /** The revision this transaction took; told to listeners once it is committed. */
  revision: number | null = null;
  readonly #session: Session;
  #ended = false;
  #fault: unknown = null;

  constructor(engine: Engine, session: Session) {
    this.kind = engine.kind;
    this.build = engine.builder;
    this.#session = session;
  }

  async all<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    const { sql, parameters } = query.compile();
    const { rows } = await this.run(sql, parameters);
    return rows as readonly Row[];
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | null> {
    const { sql, parameters } = query.compile();
    const { rows } = await this.run(sql, parameters, "first");
    return (rows[0] ?? null) as Row | null;
  }

  async changed(query: Compilable): Promise<number> {
    const { sql, parameters } = query.compile();
    return (await this.run(sql, parameters)).changed;
  }

  /** At once where the engine answers at once. */
  run(text: string, parameters: readonly unknown[], wanted: Wanted = "all"): Answer | Promise<Answer> {
    if (this.#ended) throw new StoreUsageError("the transaction has ended: use it only inside its callback");
    try {
      const answer = this.#session.execute(text, parameters.map(checkedParameter), wanted);
      return answer instanceof Promise ? answer.catch((error: unknown) => this.#failed(error)) : answer;
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** Where the engine indexes rows later: so many were just appended. */
  leave(table: Exclude<LateTable, "request">, count: number): void {
    this.#late((late) => late.leave(table, count));
  }

  /** The same of a request that was just settled. */
  leaveRequest(id: string): void {
    this.#late((late) => late.leaveRequest(id));
  }

  /** Whether the indexes of a table, as far as the engine makes them later, hold all of its rows from here on. */
  settle(table: LateTable): boolean {
    return this.#late((late) => late.settle(table)) ?? false;
  }

  #late<T>(work: (late: LateIndexing) => T): T | undefined {
    const { lateIndex } = this.#session;
    try {
      return lateIndex === undefined ? undefined : work(lateIndex);
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** INVARIANT: a transaction in which a statement failed is never committed, also where the caller swallowed it. */
  #failed(error: unknown): never {
    this.#fault ??= error;
    throw error;
  }

  commit(): Promise<void> | void {
    this.#ended = true;
    return this.#fault === null ? this.#session.commit() : this.#undone(this.#fault);
  }

  async #undone(fault: unknown): Promise<never> {
    await this.#session.rollback();
    throw fault;
  }

  async rollback(): Promise<void> {
    this.#ended = true;
    await this.#session.rollback();
  }
}

function checkedParameter(value: unknown): Parameter {
  if (value === null || value instanceof Uint8Array) return value;
  if (typeof value === "string") {
    if (isUnkeepable(value)) {
      throw new StoreValueError("text holds a NUL or half a surrogate pair: refuse it where it comes in");
    }
    return value;
  }
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new StoreValueError(
    typeof value === "number"
      ? `the number \`${value}\` is not a safe integer: round it where it comes in`
      : `a value of type \`${typeof value}\` cannot be stored: give text, an integer, bytes or null`,
  );
}
