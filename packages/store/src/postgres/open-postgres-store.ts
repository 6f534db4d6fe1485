/**
 * The shared store: one PostgreSQL database and any number of nodes.
 */
import type { AccessStore } from "../port.ts";
import type { Engine } from "../sql/engine.ts";
import { migrate } from "../sql/migrate.ts";
import { RevisionHub } from "../sql/revision-hub.ts";
import { SqlStore } from "../sql/sql-store.ts";
import { clientConfig, openPostgresEngine } from "./postgres-engine.ts";
import { RevisionListener } from "./revision-listener.ts";

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** 10 unless said; one more listens for revisions. */
  readonly connectionsMax?: number | undefined;
  /** 5000 unless said. */
  readonly connectTimeoutMs?: number | undefined;
  /** 5000 unless said. */
  readonly statementTimeoutMs?: number | undefined;
  /** How often revisions are read beside being heard; 500 unless said. */
  readonly pollMs?: number | undefined;
}

export interface PostgresStore extends AccessStore {
  readonly engine: "postgres";
}

/** Connects and brings the schema up to date. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const settings = {
    url: options.url,
    connectionsMax: options.connectionsMax ?? 10,
    connectTimeoutMs: options.connectTimeoutMs ?? 5000,
    statementTimeoutMs: options.statementTimeoutMs ?? 5000,
  };
  const engine = openPostgresEngine(settings);
  const hub = new RevisionHub();
  let listener: RevisionListener | null = null;
  const heard: Engine = {
    ...engine,
    close: async () => {
      await listener?.stop();
      await engine.close();
    },
  };
  const store = new SqlStore(heard, hub);
  try {
    await migrate(engine);
    const readRevision = () => store.read((tx) => tx.revisions.current());
    hub.startAt(await readRevision());
    listener = new RevisionListener({
      config: clientConfig(settings),
      pollMs: options.pollMs ?? 500,
      readRevision,
      reach: (revision) => hub.reach(revision),
    });
    await listener.start();
  } catch (error) {
    await store.close();
    throw error;
  }
  return Object.assign(store, { engine: "postgres" as const });
}
