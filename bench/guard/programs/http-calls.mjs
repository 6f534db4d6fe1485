// @ts-check
/** Purpose: the program that is measured: requests on one kept connection, as many as each line of its input says. */
import { Agent, request } from "node:http";
import process from "node:process";
import { createInterface } from "node:readline";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** @param {string} url @returns {Promise<void>} */
function get(url) {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.resume();
      response.once("end", resolve);
    })
      .once("error", reject)
      .end();
  });
}

/** @param {string} url */
const fetched = async (url) => void (await (await fetch(url)).arrayBuffer());

/** @typedef {{ client: "http" | "fetch", url: string, times: number }} Words */

/** @param {Words} words @returns {Promise<number>} nanoseconds of CPU for one request */
async function measure({ client, url, times }) {
  const ask = client === "http" ? get : fetched;
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) await ask(url);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / times;
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await measure(JSON.parse(line)))}\n`);
agent.destroy();
// WHY: the connections of `fetch` are kept for a while.
process.exit(0);
