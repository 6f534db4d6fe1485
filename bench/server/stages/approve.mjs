// @ts-check
/**
 * Purpose: how many approvals a second come through, each durable and on record before its answer: by the service itself in
 * its process, by one page over HTTP, one after the other, and by several pages at once. The three take turns, since what
 * a commit takes is the disk's to say and changes from moment to moment.
 */
import { ServerProcess } from "../server-process.mjs";

/**
 * @typedef {{ perSecond: number, cpuMs: number }} Rate best round; `cpuMs`: of the server, for one approval
 * @typedef {{ own: Rate, onePage: Rate, manyPages: Rate, pages: number, count: number }} Approve
 * @typedef {{ requestId: string, digest: string }} Asked
 * @typedef {import("../caller.mjs").Caller} Caller
 */

/** @param {{ rounds: number, calls: number, pages: number }} effort @returns {Promise<Approve>} */
export async function run({ rounds, calls, pages }) {
  const server = await ServerProcess.start("sallyport");
  const callers = await Promise.all(Array.from({ length: pages }, () => server.administrator()));
  let asked = 0;
  const requests = () => {
    const targets = Array.from({ length: calls }, () => `/srv/asked/${asked++}`);
    return /** @type {Promise<readonly Asked[]>} */ (server.ask("ask", { targets }));
  };
  /** @type {Readonly<Record<"own" | "onePage" | "manyPages", (asked: readonly Asked[]) => Promise<unknown>>>} */
  const kinds = {
    own: (items) => server.ask("approve", { items }),
    onePage: (items) => approveAll(callers.slice(0, 1), items),
    manyPages: (items) => approveAll(callers, items),
  };
  /** @type {Record<string, Rate>} */
  const best = {};
  // WHY from -1: the first round is there to warm up, and does not count.
  for (let round = -1; round < rounds; round++) {
    for (const [name, approve] of Object.entries(kinds)) {
      const items = await requests();
      await server.usage();
      const started = performance.now();
      await approve(items);
      const perSecond = items.length / ((performance.now() - started) / 1000);
      const cpuMs = (await server.usage()).cpuMs / items.length;
      const known = best[name];
      if (round < 0) continue;
      best[name] = {
        perSecond: Math.max(perSecond, known?.perSecond ?? 0),
        cpuMs: Math.min(cpuMs, known?.cpuMs ?? Number.POSITIVE_INFINITY),
      };
    }
  }
  for (const caller of callers) caller.close();
  await server.stop();
  return { .../** @type {Pick<Approve, keyof typeof kinds>} */ (best), pages, count: rounds * calls };
}

/** @param {readonly Caller[]} callers @param {readonly Asked[]} items */
async function approveAll(callers, items) {
  const left = items.map(({ requestId, digest }) =>
    JSON.stringify({ by: { kind: "request", request_id: requestId, digest }, words: {} }),
  );
  await Promise.all(
    callers.map(async (caller) => {
      for (let body = left.pop(); body !== undefined; body = left.pop()) {
        const { json } = await caller.post("/v1/decisions/approve_permanently", body);
        if (json.ok !== true) throw new Error(`an approval was refused: ${json.message}`);
      }
    }),
  );
}
