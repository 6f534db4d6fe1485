import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeConformance } from "../testing/conformance.ts";
import { openSqliteStore } from "./open-sqlite-store.ts";

storeConformance("SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sp-store-"));
  const store = await openSqliteStore({ path: join(folder, "store.db") });
  return {
    store,
    other: store,
    dispose: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
