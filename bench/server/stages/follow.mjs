// @ts-check
/**
 * Purpose: many followers of the live stream: that a change reaches every one of them, how long until the last has heard,
 * what they take of the server's memory, and for how long they hold its event loop.
 */
import { Agent, get } from "node:http";
import { quantile } from "../../service/sampling.mjs";
import { ServerProcess } from "../server-process.mjs";

/**
 * @typedef {{ followers: number, lastHeardP50Ms: number, kibPerFollower: number, residentMiB: number, stallMs: number }} Follow
 */

const nothing = () => undefined;
const GROUP = 50;

/** @param {{ followers: number, rounds: number }} effort @returns {Promise<Follow>} */
export async function run({ followers, rounds }) {
  const server = await ServerProcess.start("sallyport");
  const caller = await server.administrator();
  const { residentMiB: alone } = await server.usage();
  const agent = new Agent({ keepAlive: false, maxSockets: followers });
  let heard = 0;
  /** @type {() => void} */
  let all = nothing;
  const follow = () =>
    new Promise((resolve, reject) => {
      let hasHeard = -1;
      const call = get(`${server.origin}/v1/live`, { agent, headers: caller.headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`a follower was refused: ${response.statusCode}`));
        response.setEncoding("utf8");
        response.on("data", (/** @type {string} */ text) => {
          if (text.includes('"hello"')) resolve(undefined);
          // WHY once a round: what was told in two pieces is one thing heard.
          if (!text.includes('"requests"') || !text.includes('"changed"') || hasHeard === round) return;
          hasHeard = round;
          heard += 1;
          if (heard === followers) all();
        });
      });
      call.once("error", () => undefined);
    });
  let round = -1;
  // WHY in groups: a busy machine takes a while to accept a thousand, and the server gives each head ten seconds.
  for (let opened = 0; opened < followers; opened += GROUP)
    await Promise.all(Array.from({ length: Math.min(GROUP, followers - opened) }, follow));
  await server.usage();
  const times = [];
  for (round = 0; round < rounds; round++) {
    heard = 0;
    const told = new Promise((resolve) => (all = () => resolve(undefined)));
    const started = performance.now();
    await server.ask("askOne", { target: `/srv/told/${round}` });
    await told;
    times.push(performance.now() - started);
  }
  const { residentMiB, stallMs } = await server.usage();
  agent.destroy();
  caller.close();
  await server.stop();
  const kibPerFollower = ((residentMiB - alone) * 1024) / followers;
  return { followers, lastHeardP50Ms: quantile(times, 0.5), kibPerFollower, residentMiB, stallMs };
}
