/**
 * SQLite as a handful of synchronous calls: `node:sqlite` where Node has it, else libsql, which runs on Node 20.
 * Both are given the same shape here and nothing else of them is used.
 */
import { createRequire } from "node:module";
import { StoreUnavailableError } from "../errors.ts";
import type { Answer, Parameter, RawRow, Wanted } from "../sql/engine.ts";

export interface SqliteConnection {
  /** Keeps no statement. WHY: with libsql a connection stays open as long as one of its statements lives. */
  exec(text: string): void;
  run(text: string, parameters?: readonly Parameter[], wanted?: Wanted): Answer;
  close(): void;
}

/** Statements that are kept ready; the texts of the store are few, those of long lists are not. */
const STATEMENTS_MAX = 256;

type Ready = (parameters: readonly Parameter[], wanted: Wanted) => Answer;

interface LibsqlStatement {
  readonly reader: boolean;
  /** Rows as lists of values instead of objects. */
  raw(isRaw: true): unknown;
  columns(): readonly { readonly name: string }[];
  all(parameters: readonly unknown[]): readonly (readonly unknown[])[];
  get(parameters: readonly unknown[]): readonly unknown[] | undefined;
  run(parameters: readonly unknown[]): { readonly changes: number };
}
type Libsql = new (path: string) => {
  exec(text: string): void;
  prepare(text: string): LibsqlStatement;
  close(): void;
};

interface NodeStatement {
  columns?(): readonly unknown[];
  all(...parameters: readonly unknown[]): readonly RawRow[];
  get(...parameters: readonly unknown[]): RawRow | undefined;
  run(...parameters: readonly unknown[]): { readonly changes: number | bigint };
}
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => {
    exec(text: string): void;
    prepare(text: string): NodeStatement;
    close(): void;
  };
}

const require = createRequire(import.meta.url);

/** Opens the file without reading it: whether it can be used shows with the first statement. */
export function connect(path: string): SqliteConnection {
  const builtin = builtinSqlite();
  return builtin === null ? connectLibsql(path) : connectNode(builtin, path);
}

/** WHY: asked for by name at run time, because Node 20 does not have it and 22 before 22.13 hides it. */
function builtinSqlite(): NodeSqlite | null {
  const find = (process as { getBuiltinModule?: (name: string) => unknown }).getBuiltinModule;
  const found = find?.("node:sqlite") as NodeSqlite | undefined;
  return found ?? null;
}

function connectNode({ DatabaseSync }: NodeSqlite, path: string): SqliteConnection {
  const database = new DatabaseSync(path);
  const statements = new ReadyStatements((text) => {
    const statement = database.prepare(text);
    // WHY: Node before 22.16 does not say whether a statement gives rows.
    const columns = statement.columns?.().length;
    return (parameters, wanted) => {
      if (columns !== undefined && columns > 0 && wanted === "first")
        return answerOf(statement.get(...parameters));
      if (columns === 0) return { rows: [], changed: Number(statement.run(...parameters).changes) };
      const rows = statement.all(...parameters);
      if (rows.length > 0 || columns !== undefined) return { rows, changed: rows.length };
      const [last] = database.prepare("select changes() as changes").all();
      return { rows, changed: Number(last?.["changes"]) };
    };
  });
  return {
    exec: (text) => database.exec(text),
    run: (text, parameters = [], wanted = "all") => statements.get(text)(parameters, wanted),
    close: () => {
      statements.clear();
      database.close();
    },
  };
}

function connectLibsql(path: string): SqliteConnection {
  const database = new (loadLibsql())(path);
  const statements = new ReadyStatements((text) => {
    const statement = database.prepare(text);
    const toRow = statement.reader ? rowMaker(statement) : null;
    return (parameters, wanted) => {
      const values = parameters.some(isBareBytes) ? parameters.map(asBuffer) : parameters;
      if (toRow !== null && wanted === "first") {
        // WHY not `all`: it costs ten times as much for one row.
        const found = statement.get(values);
        return answerOf(found === undefined ? undefined : toRow(found));
      }
      if (toRow !== null) {
        const rows = statement.all(values).map(toRow);
        return { rows, changed: rows.length };
      }
      return { rows: [], changed: statement.run(values).changes };
    };
  });
  return {
    exec: (text) => database.exec(text),
    run: (text, parameters = [], wanted = "all") => statements.get(text)(parameters, wanted),
    close: () => {
      statements.clear();
      database.close();
    },
  };
}

const answerOf = (row: RawRow | undefined): Answer =>
  row === undefined ? { rows: [], changed: 0 } : { rows: [row], changed: 1 };

/** What libsql takes for no bytes. */
const isBareBytes = (value: Parameter): value is Uint8Array =>
  value instanceof Uint8Array && !Buffer.isBuffer(value);

const asBuffer = (value: Parameter): Parameter =>
  isBareBytes(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;

/** WHY: libsql makes an object property by property, which costs more than reading the row. */
function rowMaker(statement: LibsqlStatement): (values: readonly unknown[]) => RawRow {
  statement.raw(true);
  const names = statement.columns().map(({ name }) => name);
  // WHY: a copy has all of its properties at once; one that grows property by property is made anew with each.
  const empty: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((name) => [name, null]));
  return (values) => {
    const row = { ...empty };
    for (let at = 0; at < names.length; at++) row[names[at] as string] = values[at];
    return row;
  };
}

function loadLibsql(): Libsql {
  try {
    return require("libsql") as Libsql;
  } catch {
    throw new StoreUnavailableError(
      "this Node has no SQLite: use Node 22.13 or later, or install the optional dependency `libsql`",
    );
  }
}

/** Least recently used goes first. */
class ReadyStatements {
  readonly #prepare: (text: string) => Ready;
  readonly #ready = new Map<string, Ready>();

  constructor(prepare: (text: string) => Ready) {
    this.#prepare = prepare;
  }

  get(text: string): Ready {
    const known = this.#ready.get(text);
    if (known !== undefined) {
      this.#ready.delete(text);
      this.#ready.set(text, known);
      return known;
    }
    const made = this.#prepare(text);
    this.#ready.set(text, made);
    if (this.#ready.size > STATEMENTS_MAX) {
      const [oldest] = this.#ready.keys();
      if (oldest !== undefined) this.#ready.delete(oldest);
    }
    return made;
  }

  clear(): void {
    this.#ready.clear();
  }
}
