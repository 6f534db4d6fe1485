// @ts-check
/**
 * Purpose: another node, in another process, whose callers wait. Moments are told on the machine's monotonic clock, which
 * all its processes share.
 */
import { once } from "node:events";
import { openPostgresStore } from "@sallyport/store/postgres";
import { startStage } from "../harness/stage.mjs";
import { ask, guarded, read, startNode } from "./node-under-bench.mjs";

/**
 * @typedef {{ wait: string } | { stop: true }} Order
 * @typedef {{ ready: true } | { woken: string, code: string }} Word
 */

const STAGES = new URL("./stage.mjs", import.meta.url).href;

/** @param {string} url */
export async function startNeighbour(url) {
  const { child, finished } = startStage(STAGES, "neighbour", { url });
  // WHY: a neighbour that dies is told by whoever waits for its word.
  finished.catch(() => undefined);
  /** @returns {Promise<Word>} */
  const word = async () => {
    const ended = finished.then(() => Promise.reject(new Error("the other node has ended")));
    const [message] = /** @type {[Word]} */ (await Promise.race([once(child, "message"), ended]));
    return message;
  };
  await word();
  return {
    /** @param {string} target */
    waitFor: async (target) => {
      const told = word();
      child.send({ wait: target });
      const message = await told;
      if (!("woken" in message) || message.code !== "allowed_session") {
        throw new Error(`the waiter on the other node was told \`${JSON.stringify(message)}\``);
      }
      return BigInt(message.woken);
    },
    stop: async () => {
      child.send({ stop: true });
      await finished;
    },
  };
}

/** @param {Word} word */
const tell = (word) => process.send?.(word);

/** The other process. @param {{ url: string }} options @returns {Promise<{ stopped: true }>} */
export async function run({ url }) {
  const store = await openPostgresStore({ url });
  const service = await startNode(store, { nodeId: "node-b" });
  const stopped = new Promise((resolve) => {
    process.on("message", (/** @type {Order} */ order) => {
      if ("stop" in order) resolve(undefined);
      else void waitHere(order.wait).then(tell);
    });
  });
  /** @param {string} target @returns {Promise<Word>} */
  const waitHere = async (target) => {
    const { code } = await service.check(guarded(), ask(read(target), { wait: { timeoutMs: 60_000 } }));
    return { woken: `${process.hrtime.bigint()}`, code };
  };
  tell({ ready: true });
  await stopped;
  await service.stop();
  await store.close();
  return { stopped: true };
}
