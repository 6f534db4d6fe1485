/**
 * For tests only: the conformance suite that every engine runs, a real PostgreSQL, and rows to begin with.
 */
export { storeConformance } from "./conformance.ts";
export { connect as connectRawSqlite } from "../sqlite/driver.ts";
export { type PostgresServer, startPostgres, startSmallPostgres } from "./postgres-server.ts";
export { runPostgresClients } from "./postgres-clients.ts";
export type { OpenEmpty, StoreUnderTest } from "./store-under-test.ts";
export * from "./sample-rows.ts";
