// @ts-check
/**
 * Purpose: the program that is measured, bare and confined: as many requests, one after the other, as each line of its input
 * says; on one connection or each on its own. `bytes` writes and reads a socket
 * itself, so that no library is in the way; what `echo` writes is no HTTP.
 */
import { Agent, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { connect } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";

/**
 * @typedef {{ way: "http" | "bytes" | "echo", isNew: boolean, port: number, isSecure: boolean, times: number, authority?: string }} Words
 */

const HOST = "127.0.0.1";
const BODY_BYTES = 1024;

/** @param {Words} words @returns {{ once: () => Promise<unknown>, end: () => void }} */
function byLibrary({ isNew, port, isSecure, authority }) {
  const terms = { keepAlive: !isNew, maxSockets: 1 };
  const agent = isSecure ? new SecureAgent({ ...terms, ca: authority }) : new Agent(terms);
  const send = isSecure ? secureRequest : request;
  const once = () =>
    new Promise((resolve, reject) => {
      send({ host: HOST, port, path: "/a", agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`answered with ${response.statusCode}`));
        response.resume();
        response.once("end", resolve);
      })
        .once("error", reject)
        .end();
    });
  return { once, end: () => agent.destroy() };
}

/** @param {Words} words @returns {{ once: () => Promise<unknown>, end: () => void }} */
function byBytes({ way, isNew, port }) {
  const text = Buffer.from(`${way === "echo" ? "\0" : ""}GET /a HTTP/1.1\r\nHost: ${HOST}:${port}\r\n\r\n`);
  /** @type {import("node:net").Socket | undefined} */
  let held;
  const dial = () => {
    const socket = connect({ host: HOST, port, noDelay: true });
    socket.once("close", () => (held = held === socket ? undefined : held));
    return socket;
  };
  const once = () =>
    new Promise((resolve, reject) => {
      const socket = (held ??= dial());
      let count = 0;
      /** @param {Buffer} chunk */
      const take = (chunk) => {
        count += chunk.length;
        if (count < BODY_BYTES) return;
        socket.off("data", take).off("error", reject);
        if (isNew) {
          held = undefined;
          socket.destroy();
        }
        resolve(undefined);
      };
      socket.on("data", take).once("error", reject);
      socket.write(text);
    });
  return { once, end: () => held?.destroy() };
}

/** @param {Words} words */
async function measure(words) {
  const { once, end } = words.way === "http" ? byLibrary(words) : byBytes(words);
  await once();
  /** @type {number[]} */
  const samples = [];
  const before = process.cpuUsage();
  for (let time = 0; time < words.times; time++) {
    const started = performance.now();
    await once();
    samples.push(performance.now() - started);
  }
  const { user, system } = process.cpuUsage(before);
  end();
  const sorted = samples.toSorted((one, other) => one - other);
  return { p50Us: (sorted[sorted.length >> 1] ?? Number.NaN) * 1000, cpuUs: (user + system) / words.times };
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await measure(JSON.parse(line)))}\n`);
