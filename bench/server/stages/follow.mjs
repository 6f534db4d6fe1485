// @ts-check
/** Purpose: many followers of the live stream: how long until the last one has heard of a change. */
import { Agent, get } from "node:http";
import { ask, guarded, read } from "../../service/node-under-bench.mjs";
import { quantile } from "../../service/sampling.mjs";
import { startServer } from "../server-under-bench.mjs";

/** @typedef {{ followers: number, lastHeardP50Ms: number, residentMiB: number }} Follow */

const nothing = () => undefined;

/** @param {{ followers: number, rounds: number }} effort @returns {Promise<Follow>} */
export async function run({ followers, rounds }) {
  const { service, origin, caller, close } = await startServer();
  const agent = new Agent({ keepAlive: false, maxSockets: followers });
  let heard = 0;
  /** @type {() => void} */
  let all = nothing;
  const openAll = Array.from(
    { length: followers },
    () =>
      new Promise((resolve, reject) => {
        const call = get(`${origin}/v1/live`, { agent, headers: caller.headers }, (response) => {
          if (response.statusCode !== 200)
            reject(new Error(`a follower was refused: ${response.statusCode}`));
          response.setEncoding("utf8");
          response.on("data", (/** @type {string} */ text) => {
            if (text.includes('"hello"')) resolve(undefined);
            if (!text.includes('"changed"')) return;
            heard += 1;
            if (heard === followers) all();
          });
        });
        call.once("error", () => undefined);
      }),
  );
  await Promise.all(openAll);
  const times = [];
  for (let round = 0; round < rounds; round++) {
    heard = 0;
    const told = new Promise((resolve) => (all = () => resolve(undefined)));
    const started = performance.now();
    await service.check(guarded(), ask(read(`/srv/told/${round}`)));
    await told;
    times.push(performance.now() - started);
  }
  const residentMiB = process.memoryUsage().rss / 2 ** 20;
  agent.destroy();
  await close();
  return { followers, lastHeardP50Ms: quantile(times, 0.5), residentMiB };
}
