// @ts-check
/**
 * Purpose: the PostgreSQL server of the tests for the bench and the soak. `SALLYPORT_POSTGRES_URL` names one's own.
 * WHY bundled: it is test code, which no package ships.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { root } from "../../tools/setup.mjs";

/** @typedef {import("@sallyport/store/testing").PostgresServer} PostgresServer */

/** @returns {Promise<PostgresServer>} */
export async function startEmbeddedPostgres() {
  const folder = join(root, "node_modules", ".cache", "sallyport");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `postgres-${process.pid}.mjs`);
  const build = await rolldown({
    input: join(root, "packages/store/src/testing/postgres-server.ts"),
    platform: "node",
    external: ["pg"],
    resolve: { conditionNames: ["source", "import", "default"] },
    logLevel: "silent",
  });
  try {
    await build.write({ file, format: "esm" });
    const { startPostgres } = await import(pathToFileURL(file).href);
    return await startPostgres();
  } finally {
    await build.close();
    rmSync(file, { force: true });
  }
}
