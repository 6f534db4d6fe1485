/**
 * Statements of the schema, written once for both engines. Names come from the migrations, never from a caller.
 */
import type { EngineKind } from "./engine.ts";

export type ColumnType = "text" | "text?" | "integer" | "integer?" | "bytes" | "bytes?";
export type Columns = Readonly<Record<string, ColumnType>>;

const TYPES = {
  sqlite: { text: "text collate binary", integer: "integer", bytes: "blob" },
  postgres: { text: 'text collate "C"', integer: "bigint", bytes: "bytea" },
} as const satisfies Readonly<Record<EngineKind, unknown>>;

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

function column(kind: EngineKind, name: string, type: ColumnType): string {
  const optional = type.endsWith("?");
  const base = (optional ? type.slice(0, -1) : type) as "text" | "integer" | "bytes";
  return `"${name}" ${TYPES[kind][base]}${optional ? "" : " not null"}`;
}

export const table =
  (name: string, columns: Columns, constraints: readonly string[]) =>
  (kind: EngineKind): string => {
    const parts = [...Object.entries(columns).map(([key, type]) => column(kind, key, type)), ...constraints];
    return `create table "${name}" (${parts.join(", ")})${kind === "sqlite" ? " strict" : ""}`;
  };

export const index = (name: string, on: string, columns: readonly string[], where?: string) => (): string =>
  `create index "${name}" on "${on}" (${quoted(columns)})${where === undefined ? "" : ` where ${where}`}`;

export const uniqueIndex =
  (name: string, on: string, columns: readonly string[], where?: string) => (): string =>
    index(name, on, columns, where)().replace("create index", "create unique index");

export const dropIndex = (name: string) => (): string => `drop index "${name}"`;

export const primaryKey = (...columns: readonly string[]): string => `primary key (${quoted(columns)})`;
export const refers = (from: string, to: string): string =>
  `foreign key ("${from}") references "${to}" ("id")`;
export const oneOf = (name: string, ...values: readonly string[]): string =>
  `check ("${name}" in (${values.map((value) => `'${value}'`).join(", ")}))`;

export const addColumn =
  (on: string, name: string, type: ColumnType, fallback: (kind: EngineKind) => string = () => "") =>
  (kind: EngineKind): string =>
    `alter table "${on}" add column ${column(kind, name, type)}${fallback(kind)}`;
