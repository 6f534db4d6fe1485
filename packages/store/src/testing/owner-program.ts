/**
 * Owns the SQLite store that it is given as argument and does what it is told over IPC:
 * `open`, `insert` (answers how the insertion of that setting went), `check`, `close`.
 */
import { openSqliteStore, type SqliteStore } from "../sqlite/open-sqlite-store.ts";

export type OwnerMessage =
  | { readonly do: "open" }
  | { readonly do: "insert"; readonly key: string; readonly bytes: number }
  | { readonly do: "keys" }
  | { readonly do: "close" };

export interface OwnerAnswer {
  readonly ok: boolean;
  readonly error?: {
    readonly name: string;
    readonly message: string;
    readonly driverCode?: string | null;
    readonly owner?: unknown;
  };
  readonly keys?: readonly string[];
}

let store: SqliteStore | null = null;

async function obey(message: OwnerMessage): Promise<OwnerAnswer> {
  if (message.do === "open") {
    store = await openSqliteStore({ path: process.argv[2] ?? "", version: "test" });
    return { ok: true };
  }
  if (store === null) throw new Error("open the store first");
  const open = store;
  switch (message.do) {
    case "insert":
      await open.transaction((tx) => tx.settings.set(message.key, "x".repeat(message.bytes), 1));
      return { ok: true };
    case "keys":
      return { ok: true, keys: (await open.read((tx) => tx.settings.list())).map(({ key }) => key) };
    case "close":
      await open.close();
      return { ok: true };
  }
}

process.on("message", (message) => {
  obey(message as OwnerMessage).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      const {
        name,
        message: text,
        driverCode,
        owner,
      } = error as Error & { driverCode?: string; owner?: unknown };
      process.send?.({ ok: false, error: { name, message: text, driverCode, owner } });
    },
  );
});
