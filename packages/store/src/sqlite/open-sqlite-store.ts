/**
 * The embedded store: one SQLite file, owned by one process. A second opener is refused with who owns it; after
 * the owner's death, however sudden, the next one takes over at once.
 */
import { resolve } from "node:path";
import type { AccessStore } from "../port.ts";
import { migrate } from "../sql/migrate.ts";
import { RevisionHub } from "../sql/revision-hub.ts";
import { SqlStore } from "../sql/sql-store.ts";
import { openSqliteEngine } from "./sqlite-engine.ts";

export interface SqliteStoreOptions {
  /** The folder must exist. `-wal` and `.owner` files appear beside it. */
  readonly path: string;
  /** Of the program, for whoever finds the store owned. */
  readonly version?: string | undefined;
  /** How long to wait for another owner to go; 0 unless said. */
  readonly ownerWaitMs?: number | undefined;
  /** How long a transaction waits for its turn; 5000 unless said. */
  readonly waitMs?: number | undefined;
}

export interface SqliteStore extends AccessStore {
  readonly engine: "sqlite";
  /** A whole, consistent copy in a new file; the store goes on. Rejects where the file exists. */
  backupTo(path: string): Promise<void>;
}

/** Opens or makes the store and brings its schema up to date. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const engine = await openSqliteEngine(resolve(options.path), {
    ownerWaitMs: options.ownerWaitMs ?? 0,
    waitMs: options.waitMs ?? 5000,
    version: options.version ?? "unknown",
  });
  try {
    await migrate(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
  const hub = new RevisionHub();
  const store = new SqlStore(engine, hub);
  hub.startAt(await store.read((tx) => tx.revisions.current()));
  return Object.assign(store, {
    engine: "sqlite" as const,
    backupTo: (path: string) => engine.copyTo(resolve(path)),
  });
}
