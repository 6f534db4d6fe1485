// @ts-check
/** Purpose: the longest time that the event loop is held, during the work of the service that is longest. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { fillApprovals, fillEvents, fillRequests, openScratchStore } from "../filling.mjs";
import { ask, guarded, person, read, shown, startNode } from "../node-under-bench.mjs";

/** @typedef {{ events: number, requests: number, approvals: number } & Record<"verifyMs" | "listMs" | "approveMs" | "reloadMs", number>} Stall */

const RESOLUTION_MS = 1;
const APPROVALS = 50;

/** The longest stall of the best of three runs. @param {() => Promise<unknown>} work */
async function longestStall(work) {
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 3; turn++) {
    const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delays.enable();
    await delay(20);
    delays.reset();
    await work();
    // WHY: a stall is seen by the timer that comes after it.
    await delay(20);
    delays.disable();
    best = Math.min(best, delays.max / 1e6 - RESOLUTION_MS);
  }
  return best;
}

/** @param {{ events: number, requests: number, approvals: number }} options @returns {Promise<Stall>} */
export async function run({ events, requests, approvals }) {
  const { store, close } = await openScratchStore();
  await fillRequests(store, requests);
  await fillApprovals(store, approvals);
  const service = await startNode(store);
  await fillEvents(service, events);
  const verifyMs = await longestStall(async () => {
    const report = await service.audit.verify();
    if (!report.ok) throw new Error(report.message);
  });
  const listMs = await longestStall(() =>
    service.list.requests(person(), { status: "pending" }, { limit: 50 }),
  );
  let at = 0;
  const approveMs = await longestStall(async () => {
    for (let turn = 0; turn < APPROVALS; turn++) {
      const { requestId } = await service.check(guarded(), ask(read(`/srv/stall/${at++}`)));
      await service.approvePermanently(person(), await shown(service, requestId));
      await delay(0);
    }
  });
  const reloadMs = await longestStall(async () => {
    const fresh = await startNode(store, { nodeId: "node-fresh" });
    if (fresh.revision < 1) throw new Error("the node did not load");
    await fresh.stop();
  });
  await service.stop();
  await close();
  return { events, requests, approvals, verifyMs, listMs, approveMs, reloadMs };
}
