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

/** @param {{ url: string, times: number }} words @returns {Promise<number>} nanoseconds of CPU for one request */
async function measure({ url, times }) {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) await get(url);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / times;
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await measure(JSON.parse(line)))}\n`);
agent.destroy();
