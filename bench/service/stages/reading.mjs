// @ts-check
/**
 * Purpose: one request by its id, beside a bare statement of the driver on a copy of the same file; and the first 50 of
 * many requests beside the first 50 of few.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { fillRequests, openScratchStore } from "../filling.mjs";
import { person, startNode } from "../node-under-bench.mjs";
import { inTurns } from "../sampling.mjs";

/** @typedef {import("../sampling.mjs").Figure} Figure */
/** @typedef {{ few: number, many: number } & Record<"bareGet" | "storeGet" | "get" | "listFew" | "listMany", Figure>} Reading */

const PAGE = { limit: 50 };

/** @param {{ few: number, many: number, rounds: number, calls: number }} options @returns {Promise<Reading>} */
export async function run({ few, many, rounds, calls }) {
  const small = await openScratchStore();
  const large = await openScratchStore();
  await fillRequests(small.store, few);
  const ids = await fillRequests(large.store, many);
  const copy = join(large.folder, "copy.db");
  await large.store.backupTo(copy);
  const bare = openBare(copy);
  const [nodeSmall, nodeLarge] = [await startNode(small.store), await startNode(large.store)];
  let at = 0;
  // WHY: a stride that meets every id in an order that no page cache foresees.
  const nextId = () => ids[(at += 7919) % ids.length] ?? "";
  const gets = await inTurns(
    {
      bareGet: () => existing(bare.get(nextId())),
      storeGet: async () => existing(await large.store.read((tx) => tx.requests.get(nextId()))),
      get: async () => existing(await nodeLarge.list.request(person(), nextId())),
    },
    { rounds, calls },
  );
  const lists = await inTurns(
    { listFew: list(nodeSmall), listMany: list(nodeLarge) },
    { rounds, calls: Math.ceil(calls / 10) },
  );
  bare.close();
  for (const node of [nodeSmall, nodeLarge]) await node.stop();
  for (const scratch of [small, large]) await scratch.close();
  return { few, many, ...gets, ...lists };
}

/** @param {unknown} row */
function existing(row) {
  if (row === null || row === undefined) throw new Error("a request is missing");
}

/** @param {import("@sallyport/service").AccessService} node */
const list = (node) => async () => {
  const { rows } = await node.list.requests(person(), { status: "pending" }, PAGE);
  if (rows.length !== PAGE.limit) throw new Error(`a page of ${rows.length} requests`);
};

/** @typedef {{ prepare(text: string): { get(id: string): unknown }, close(): void }} Database */

/** @returns {new (path: string) => Database} */
const libsql = () => createRequire(import.meta.resolve("@sallyport/store/sqlite"))("libsql");

/** The store's own driver, without the store. @param {string} path */
function openBare(path) {
  const find = /** @type {{ getBuiltinModule?: (name: string) => unknown }} */ (process).getBuiltinModule;
  const builtin = /** @type {{ DatabaseSync: new (path: string) => Database } | undefined} */ (
    find?.("node:sqlite")
  );
  const database = new (builtin?.DatabaseSync ?? libsql())(path);
  const statement = database.prepare('select * from "request" where "id" = ?');
  return { get: (/** @type {string} */ id) => statement.get(id), close: () => database.close() };
}
