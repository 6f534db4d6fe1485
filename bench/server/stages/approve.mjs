// @ts-check
/** Purpose: how many approvals a second one person's page gets through, each durable and on record before its answer. */
import { ask, guarded, read, shown } from "../../service/node-under-bench.mjs";
import { startServer } from "../server-under-bench.mjs";

/** @typedef {{ perSecond: number, count: number }} Approve */

/** @param {{ count: number }} effort @returns {Promise<Approve>} */
export async function run({ count }) {
  const { service, caller, close } = await startServer();
  /** @type {string[]} */
  const bodies = [];
  for (let index = 0; index < count; index++) {
    const { requestId } = await service.check(guarded(), ask(read(`/srv/asked/${index}`)));
    const { digest } = await shown(service, requestId);
    bodies.push(JSON.stringify({ by: { kind: "request", request_id: requestId, digest }, words: {} }));
  }
  const started = performance.now();
  for (const body of bodies) {
    const { json } = await caller.post("/v1/decisions/approve_permanently", body);
    if (json.ok !== true) throw new Error(`an approval was refused: ${json.message}`);
  }
  const seconds = (performance.now() - started) / 1000;
  await close();
  return { perSecond: count / seconds, count };
}
