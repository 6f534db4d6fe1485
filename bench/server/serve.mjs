// @ts-check
/** Purpose: the program of `server-process.mjs`: a server of Sallyport, or a bare route of the same framework. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { startBare } from "./bare-server.mjs";

/** @typedef {Readonly<Record<string, (words: any) => unknown>>} Calls */

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let since = process.cpuUsage();

/** @type {Calls} */
const COMMON = {
  usage: () => {
    const { user, system } = process.cpuUsage(since);
    since = process.cpuUsage();
    const stallMs = delay.max / 1e6;
    delay.reset();
    return { cpuMs: (user + system) / 1000, residentMiB: process.memoryUsage().rss / 2 ** 20, stallMs };
  },
};

const make =
  process.argv[2] === "bare"
    ? startBare
    : async () => (await import("./server-under-bench.mjs")).startServer();
/** @type {Calls} */
let calls = COMMON;

process.on("message", (/** @type {{ id: number, what: string, words: object }} */ { id, what, words }) => {
  void answer(what, words).then(
    (value) => process.send?.({ id, value }),
    (error) => process.send?.({ id, fault: String(error?.stack ?? error) }),
  );
});

// WHY: a bench that failed leaves nothing behind.
process.on("disconnect", () => process.exit());

/** @param {string} what @param {object} words */
async function answer(what, words) {
  if (what !== "start") return calls[what]?.(words);
  const made = await make();
  calls = { ...COMMON, ...made.calls };
  return made.origin;
}
