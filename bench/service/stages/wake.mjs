// @ts-check
/**
 * Purpose: from the commit of an approval to the moment at which whoever waits for it goes on: on the same node, and on
 * another node, which is another process, over PostgreSQL. There the answer of a whole check that waits is taken, with its
 * own durable record; here the wait by itself, since one more sync of the disk would be most of what is measured.
 */
import { setImmediate as turn } from "node:timers/promises";
import { openPostgresStore } from "@sallyport/store/postgres";
import { startEmbeddedPostgres } from "../embedded-postgres.mjs";
import { openScratchStore } from "../filling.mjs";
import { ask, guarded, person, read, shown, startNode } from "../node-under-bench.mjs";
import { quantile } from "../sampling.mjs";
import { startNeighbour } from "../neighbour.mjs";

/**
 * @typedef {import("@sallyport/store").AccessStore} AccessStore
 * @typedef {import("@sallyport/service").AccessService} AccessService
 * @typedef {{ p50Ms: number, p99Ms: number, count: number }} Spread
 * @typedef {{ sqlite: Spread, postgres: Spread, otherNode: Spread }} Wake
 * @typedef {(target: string) => Promise<bigint>} WaitThere gives the moment at which the answer was there
 */

const WARM_UPS = 20;

/** @param {{ rounds: number }} options @returns {Promise<Wake>} */
export async function run({ rounds }) {
  const scratch = await openScratchStore();
  const sqlite = await onOneNode(scratch.store, rounds);
  await scratch.close();
  const server = await startEmbeddedPostgres();
  try {
    const alone = await openPostgresStore({ url: await server.makeDatabase() });
    const postgres = await onOneNode(alone, rounds);
    await alone.close();
    return { sqlite, postgres, otherNode: await onTwoNodes(await server.makeDatabase(), rounds) };
  } finally {
    await server.stop();
  }
}

/** @param {AccessStore} store @param {number} rounds */
async function onOneNode(store, rounds) {
  const service = await startNode(store);
  const spread = await wakeTimes({ store, service, rounds }, async (target) => {
    const { requestId = "" } = await service.check(guarded(), ask(read(target)));
    const { outcome } = await service.wait(guarded(), requestId, { timeoutMs: 60_000 });
    const woken = process.hrtime.bigint();
    if (outcome !== "allowed") throw new Error(`the waiter was told \`${outcome}\``);
    return woken;
  });
  await service.stop();
  return spread;
}

/** @param {string} url @param {number} rounds */
async function onTwoNodes(url, rounds) {
  const store = await openPostgresStore({ url });
  const service = await startNode(store);
  const neighbour = await startNeighbour(url);
  const spread = await wakeTimes({ store, service, rounds }, (target) => neighbour.waitFor(target));
  await neighbour.stop();
  await service.stop();
  await store.close();
  return spread;
}

/**
 * @param {{ store: AccessStore, service: AccessService, rounds: number }} here @param {WaitThere} waitThere
 * @returns {Promise<Spread>}
 */
async function wakeTimes({ store, service, rounds }, waitThere) {
  /** @type {number[]} */
  const times = [];
  let committed = 0n;
  const unlisten = store.onRevision(() => (committed = process.hrtime.bigint()));
  for (let round = -WARM_UPS; round < rounds; round++) {
    const waiting = waitThere(`/srv/wake/${round}`);
    const seen = await shown(service, await pendingId(service));
    await turn();
    const decision = await service.approveForSession(person(), seen);
    if (!decision.ok) throw new Error(decision.message);
    const woken = await waiting;
    if (round >= 0) times.push(Number(woken - committed) / 1e6);
  }
  unlisten();
  return { p50Ms: quantile(times, 0.5), p99Ms: bestOfParts(times), count: times.length };
}

const PARTS = 4;

/** The best p99 of some parts of the run: what disturbs the machine disturbs one of them. @param {readonly number[]} times */
function bestOfParts(times) {
  const size = Math.ceil(times.length / PARTS);
  const parts = Array.from({ length: PARTS }, (_, part) => times.slice(part * size, (part + 1) * size));
  return Math.min(...parts.filter((part) => part.length > 0).map((part) => quantile(part, 0.99)));
}

/** The one request that is pending, once it is there. @param {AccessService} service */
async function pendingId(service) {
  for (;;) {
    const { rows } = await service.list.requests(person(), { status: "pending" }, { limit: 1 });
    if (rows[0] !== undefined) return rows[0].id;
    await turn();
  }
}
